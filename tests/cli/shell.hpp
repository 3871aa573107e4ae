// Runs shell commands, for tests of the whole program.
#pragma once

#include <string>

namespace workbench {

struct Outcome {
    int exit_code = -1;
    std::string text;  // standard output
};

[[nodiscard]] Outcome shell(const std::string& command);

/// Replaces all occurrences.
[[nodiscard]] std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace workbench
