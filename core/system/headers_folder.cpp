#include "core/system/headers_folder.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"

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

const std::filesystem::path& headers_folder() {
    static const std::filesystem::path folder = find_headers();
    return folder;
}

}  // namespace workbench
