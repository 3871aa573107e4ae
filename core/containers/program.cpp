#include "core/containers/program.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/npz/scipy_npz.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

/// Limits the memory of the whole process, because the libraries allocate whatever size a file claims.
void limit_memory(std::size_t bytes) {
    limit_host_memory(resident_memory() + bytes);
#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer reserves terabytes of addresses
    constexpr std::size_t of_the_program = std::size_t{1} << 25;
    const rlimit limit{bytes + of_the_program, bytes + of_the_program};
    (void)setrlimit(RLIMIT_DATA, &limit);
#endif
}

void run(std::span<char*> words, const ContainerFormat& format) {
    if (words.size() < 5) throw std::invalid_argument("expected BYTES read FILE MEMBER NPZ, or BYTES write FILE NPZ");
    limit_memory(std::stoull(words[1]));
    if (words[2] == std::string_view("write")) return format.write(words[3], read_scipy_npz(words[4]));
    if (words.size() < 6) throw std::invalid_argument("expected BYTES read FILE MEMBER NPZ");
    WholeFile npz(words[5]);
    format.read(words[3], words[4], npz);
    npz.finish();
}

int fail(ExitCode code, const char* message) {
    std::puts(message);
    return static_cast<int>(code);
}

}  // namespace

void write_arrays(WholeFile& npz, std::string_view format, std::array<std::int64_t, 2> shape,
                  std::span<const NamedArray> arrays) {
    std::vector<NamedArray> all(arrays.begin(), arrays.end());
    all.push_back({"format", {fmt::format("|S{}", format.size()), {}, {std::as_bytes(std::span(format))}}});
    all.push_back({"shape", numpy_array(std::span<const std::int64_t>(shape))});
    write_npz(npz, all);
}

int run_container_program(int count, char** arguments, const ContainerFormat& format) noexcept {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);                     // if the workbench is interrupted
    (void)(std::freopen("/dev/null", "w", stderr) == nullptr);  // what libraries print
    try {
        run({arguments, static_cast<std::size_t>(count)}, format);
        return static_cast<int>(ExitCode::ok);
    } catch (const UserError& error) {
        return fail(error.exit_code, error.what());
    } catch (const std::bad_alloc&) {
        return fail(ExitCode::machine_error, fmt::format("{}: needs more memory than is free", arguments[3]).c_str());
    } catch (const std::exception& error) {
        return fail(ExitCode::program_error, error.what());
    }
}

}  // namespace workbench
