// Files of the workbench that are opened or started only on demand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace workbench {

/// Installed, the program is in bin or in libexec/spmv-workbench, the library in lib, and such files are in lib/spmv-workbench.
/// In a build tree they are in lib, beside the program or the library or, of a test, one folder up or two. None where it is in
/// no such place.
[[nodiscard]] std::optional<std::filesystem::path> find_beside_program(const std::string& file);

/// The folder that the program lies in; of the library, that one's, wherever the program lies that uses it.
[[nodiscard]] std::filesystem::path program_folder();

}  // namespace workbench
