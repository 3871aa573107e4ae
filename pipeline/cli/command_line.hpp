// The command line, for repeating it.
#pragma once

#include <string>

namespace workbench {

/// Quotes a word for a POSIX shell if necessary.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

/// This process's command line, quoted for a shell: workbench run 'my recipe.toml'. Empty if /proc is not available.
[[nodiscard]] std::string command_line();

}  // namespace workbench
