// The command line as it was given, for who wants to give it again.
#pragma once

#include <string>

namespace workbench {

/// In words that a shell takes as they are: workbench run 'my recipe.toml'. Empty where the system does not tell.
[[nodiscard]] std::string command_line();

}  // namespace workbench
