// What the program says about its own command line, from the commands and options that CLI11 knows.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace workbench {

/// "-o", "--out"; empty for a positional argument.
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);

/// A manual page in troff's man macros.
[[nodiscard]] std::string manual_page(const CLI::App& program);

/// A script for bash, zsh or fish that asks the program what completes a word: workbench complete WORD...
[[nodiscard]] std::string completion_script(const std::string& shell);

/// The completions of the last of the words that follow the program's name: lines of a word, a tab and its description. None if
/// a file may follow.
[[nodiscard]] std::string completions(const CLI::App& program, std::vector<std::string> words);

}  // namespace workbench
