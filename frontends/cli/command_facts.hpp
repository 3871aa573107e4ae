// The program's commands and options as data, from which the manual page and the completion scripts are generated.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace workbench {

struct OptionFacts {
    std::vector<std::string> names = {};  // "-o", "--out", or the name of a positional argument
    std::string help = {};
    std::string value = {};                 // placeholder of its value, such as FILE; empty: a flag
    std::vector<std::string> choices = {};  // the allowed values; empty: any
    std::string range = {};                 // such as "[1 - 32]"; empty: none
    std::string default_value = {};
    bool required = false;
    bool repeated = false;  // takes several values, or may be repeated
    bool by_commas = false;
};

struct CommandFacts {
    std::string name;  // empty for the program itself
    std::string help;
    std::vector<OptionFacts> positionals = {};
    std::vector<OptionFacts> options = {};
    std::vector<CommandFacts> commands = {};
};

[[nodiscard]] CommandFacts facts_of(const CLI::App& app);

/// A manual page in troff's man macros.
[[nodiscard]] std::string manual_page(const CommandFacts& program);

[[nodiscard]] std::string bash_completion(const CommandFacts& program);
[[nodiscard]] std::string zsh_completion(const CommandFacts& program);
[[nodiscard]] std::string fish_completion(const CommandFacts& program);

}  // namespace workbench
