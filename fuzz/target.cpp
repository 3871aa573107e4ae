#include "fuzz/target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <Kokkos_Core.hpp>

#include "core/contract/errors.hpp"

int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
    setenv("OMP_NUM_THREADS", "1", 1);  // makes each run deterministic
    Kokkos::initialize();
    return std::atexit(Kokkos::finalize);
}

namespace workbench::fuzz {
namespace {

void check_words(const std::string& text) {
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if ((byte < 0x20 && letter != '\n' && letter != '\t') || byte == 0x7F) fail("a message with control characters", text);
    }
    if (text.empty()) fail("a message without words", text);
}

}  // namespace

void fail(const char* what, const std::string& text) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", what, text.c_str()));
    std::abort();
}

std::vector<std::string> texts_of(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> texts(1);
    for (const char byte : text_of(data, size)) {
        if (byte == '\xFF') {
            texts.emplace_back();
        } else {
            texts.back() += byte;
        }
    }
    return texts;
}

std::filesystem::path source_path(const std::filesystem::path& name) {
    const char* const copy = std::getenv("WORKBENCH_FUZZ_SOURCE");
    return std::filesystem::path(copy == nullptr ? WORKBENCH_FUZZ_SOURCE : copy) / name;
}

std::filesystem::path file_with(std::string_view bytes) {
    static const int file = memfd_create("fuzz", 0);
    if (file < 0 || ftruncate(file, 0) != 0) fail("no file in memory", "");
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (count <= 0) fail("the file in memory cannot be written", "");
        done += static_cast<std::size_t>(count);
    }
    return "/proc/self/fd/" + std::to_string(file);
}

void act_or_refuse(const std::function<void()>& act) {
    try {
        act();
    } catch (const UserError& error) {
        check_words(error.what());
    }
}

void read_or_refuse(const std::function<CsrMatrix()>& read) {
    act_or_refuse([&] { check_csr(read()); });
}

}  // namespace workbench::fuzz
