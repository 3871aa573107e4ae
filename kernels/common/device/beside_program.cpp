#include "kernels/common/device/beside_program.hpp"

namespace workbench {

std::filesystem::path program_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::optional<std::filesystem::path> find_beside_program(const std::string& file) {
    const std::filesystem::path folder = program_folder();
    for (const char* place : {"../lib/spmv-workbench", "../../lib/spmv-workbench", "lib", "../lib", "../../lib"}) {
        std::filesystem::path candidate = folder / place / file;
        if (std::filesystem::exists(candidate)) return candidate;
    }
    return std::nullopt;
}

}  // namespace workbench
