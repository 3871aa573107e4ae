// Running commands, for tests of the program as its users meet it.
#pragma once

#include <string>

namespace workbench {

struct Outcome {
    int exit_code = -1;
    std::string text;  // standard output
};

[[nodiscard]] Outcome shell(const std::string& command);

/// The text with `to` wherever `from` was.
[[nodiscard]] std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace workbench
