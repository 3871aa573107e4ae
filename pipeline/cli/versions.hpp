// What this program was built from.
#pragma once

#include <map>
#include <string>

namespace workbench {

/// "workbench" with its commit, the compiler and every library.
[[nodiscard]] const std::map<std::string, std::string>& versions();

/// "0.1.0".
[[nodiscard]] std::string version_number();

/// One line for --version.
[[nodiscard]] std::string version_text();

}  // namespace workbench
