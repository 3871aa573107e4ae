// The headers with which code beside a recipe is compiled.
#pragma once

#include <filesystem>

namespace workbench {

/// The folder in which "kernels/format.hpp" is found: include/spmv-workbench/format of the installation, or a link to the
/// checkout in a build tree. Throws MachineError if there is none.
[[nodiscard]] const std::filesystem::path& headers_folder();

}  // namespace workbench
