#include "core/system/beside_program.hpp"

#include <dlfcn.h>
#include <link.h>

namespace workbench {

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

}  // namespace workbench
