// Files of the workbench that are opened or started only on demand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace workbench {

/// Finds such a file. In an installation the program is in bin or libexec/spmv-workbench, the library in lib, and these files
/// are in lib/spmv-workbench. In a build tree they are in lib, next to the program or the library, or one or two folders above
/// a test. Returns none if the file is in none of these places.
[[nodiscard]] std::optional<std::filesystem::path> find_beside_program(const std::string& file);

/// The package of Debian with those files that need libraries of their own (cmake/DebianPackages.cmake).
inline constexpr const char* package_of_modules = "spmv-workbench-modules";

/// The folder of the program, or of the library if another program uses it.
[[nodiscard]] std::filesystem::path program_folder();

/// The headers with which code beside a recipe is compiled: the folder in which "kernels/format.hpp" is found,
/// include/spmv-workbench/format of the installation, or a link to the checkout in a build tree. Throws MachineError if there
/// is none.
[[nodiscard]] const std::filesystem::path& headers_folder();

}  // namespace workbench
