#include "core/system/beside_program.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

std::filesystem::path find_headers() {
    const std::filesystem::path from = program_folder();
    // From bin or libexec/spmv-workbench of an installation, from a build tree, and from a folder of tests in it.
    for (const char* way : {"..", "../..", ".", "../../.."}) {
        const std::filesystem::path folder = from / way / "include/spmv-workbench/format";
        std::error_code ignored;
        if (std::filesystem::exists(folder / "kernels/format.hpp", ignored)) return std::filesystem::canonical(folder);
    }
    throw MachineError(fmt::format(
        "the headers for formats and stages beside a recipe are missing: there is no include/spmv-workbench/format beside {}",
        from.string()));
}

}  // namespace

std::filesystem::path program_folder() {
    // The file from which this code was loaded; its name is empty for the program itself.
    Dl_info ignored{};
    void* found = nullptr;
    (void)dladdr1(reinterpret_cast<const void*>(&program_folder), &ignored, &found, RTLD_DL_LINKMAP);
    const auto* const loaded = static_cast<const link_map*>(found);
    if (loaded != nullptr && loaded->l_name != nullptr && *loaded->l_name != '\0') {
        return std::filesystem::canonical(loaded->l_name).parent_path();
    }
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::optional<std::filesystem::path> find_beside_program(const std::string& file) {
    const std::filesystem::path folder = program_folder();
    for (const char* place : {"../lib/spmv-workbench", "../../lib/spmv-workbench", "lib", "../lib", "../../lib"}) {
        std::filesystem::path candidate = folder / place / file;
        if (std::filesystem::exists(candidate)) return candidate;
    }
    return std::nullopt;
}

const std::filesystem::path& headers_folder() {
    static const std::filesystem::path folder = find_headers();
    return folder;
}

}  // namespace workbench
