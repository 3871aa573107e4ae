// The commands and options of the program as data, read from the one declaration of them: what the manual page and the shells'
// completions are made of.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace workbench {

struct OptionFacts {
    std::vector<std::string> names;  // -o, --out; of a positional one its name
    std::string help;
    std::string value;                 // what it takes, as FILE; empty: nothing
    std::vector<std::string> choices;  // all that it takes; empty: anything
    std::string range;                 // as [1 - 32]; empty: none
    std::string default_value;
    bool required = false;
    bool repeated = false;  // may be given several times, or take several values
    bool by_commas = false;
};

struct CommandFacts {
    std::string name;  // empty for the program itself
    std::string help;
    std::vector<OptionFacts> positionals;
    std::vector<OptionFacts> options;
    std::vector<CommandFacts> commands;
};

[[nodiscard]] CommandFacts facts_of(const CLI::App& app);

/// A manual page for troff's man macros.
[[nodiscard]] std::string manual_page(const CommandFacts& program);

/// A script for one of these shells.
[[nodiscard]] std::string bash_completion(const CommandFacts& program);
[[nodiscard]] std::string zsh_completion(const CommandFacts& program);
[[nodiscard]] std::string fish_completion(const CommandFacts& program);

}  // namespace workbench
