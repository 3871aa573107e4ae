// Completion scripts for bash, zsh and fish.
#include <string_view>

#include <fmt/format.h>

#include "frontends/cli/command_facts.hpp"

namespace workbench {
namespace {

/// Puts a backslash before each of these characters.
std::string escaped(const std::string& text, std::string_view characters) {
    std::string result;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

/// Escapes single quotes for use between single quotes.
std::string quotable(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, R"('\'')");
    return text;
}

std::vector<std::string> names_of(const std::vector<CommandFacts>& commands) {
    std::vector<std::string> names;
    for (const CommandFacts& command : commands) names.push_back(command.name);
    return names;
}

std::vector<std::string> names_of(const std::vector<OptionFacts>& options) {
    std::vector<std::string> names;
    for (const OptionFacts& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

std::vector<std::string> choices_of(const std::vector<OptionFacts>& positionals) {
    std::vector<std::string> choices;
    for (const OptionFacts& option : positionals) choices.insert(choices.end(), option.choices.begin(), option.choices.end());
    return choices;
}

/// The bash command that completes an option's value; empty for files, which bash offers by default.
std::string bash_value(const OptionFacts& option) {
    if (option.value == "FOLDER") return R"(COMPREPLY=($(compgen -d -- "$word")))";
    if (option.choices.empty()) return "";
    if (!option.by_commas) return fmt::format(R"(COMPREPLY=($(compgen -W '{}' -- "$word")))", fmt::join(option.choices, " "));
    return fmt::format(R"(COMPREPLY=($(compgen -P "${{word%"${{word##*,}}"}}" -W '{}' -- "${{word##*,}}")))",
                       fmt::join(option.choices, " "));
}

std::string zsh_value(const OptionFacts& option) {
    if (option.value.empty()) return "";
    std::string action = "_files";
    if (option.value == "FOLDER") action = "_files -/";
    if (!option.choices.empty()) action = fmt::format("({})", fmt::join(option.choices, " "));
    if (!option.choices.empty() && option.by_commas) {
        action = fmt::format("_sequence compadd - {}", fmt::join(option.choices, " "));
    }
    return fmt::format(":{}:{}", escaped(option.value, ":"), action);
}

/// The arguments for zsh's _arguments.
std::string zsh_arguments(const CommandFacts& command) {
    std::string text;
    for (const OptionFacts& option : command.options) {
        for (const std::string& name : option.names) {
            text += fmt::format(" \\\n            '{}{}[{}]{}'", option.repeated ? "*" : "", name,
                                quotable(escaped(option.help, "\\[]:")), quotable(zsh_value(option)));
        }
    }
    for (const OptionFacts& option : command.positionals) {
        text += fmt::format(" \\\n            '{}{}'", option.repeated ? "*" : "", quotable(zsh_value(option)));
    }
    return text;
}

std::string fish_value(const OptionFacts& option) {
    if (option.value.empty()) return "";
    if (option.choices.empty()) return " -r -F";
    return fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
}

std::string fish_option(const std::string& condition, const OptionFacts& option) {
    std::string names;
    for (const std::string& name : option.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    return fmt::format("complete -c workbench -n '{}'{}{} -d '{}'\n", condition, names, fish_value(option),
                       escaped(option.help, "\\'"));
}

}  // namespace

std::string bash_completion(const CommandFacts& program) {
    std::string values;
    std::string words = fmt::format("        '') options='{}' positionals='{}' ;;\n", fmt::join(names_of(program.options), " "),
                                    fmt::join(names_of(program.commands), " "));
    for (const CommandFacts& command : program.commands) {
        for (const OptionFacts& option : command.options) {
            if (option.value.empty()) continue;
            std::string patterns;
            for (const std::string& name : option.names) {
                patterns += fmt::format("{}{}/{}", patterns.empty() ? "" : " | ", command.name, name);
            }
            const std::string action = bash_value(option);
            values += fmt::format("        {}) {}{}return ;;\n", patterns, action, action.empty() ? "" : "; ");
        }
        words += fmt::format("        {}) options='{}' positionals='{}' ;;\n", command.name,
                             fmt::join(names_of(command.options), " "), fmt::join(choices_of(command.positionals), " "));
    }
    return R"(# bash completion of the SpMV workbench, written by 'workbench completion bash'. Otherwise bash offers file names.
# shellcheck shell=bash disable=SC2207
_workbench() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' positionals=''
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi
    # bash splits --option=value.
    if [[ $word == '=' ]]; then word=''; elif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    case $command/$before in
)" + values +
           R"(    esac
    case $command in
)" + words +
           R"(    esac
    if [[ $word == -* ]]; then positionals=$options; fi
    COMPREPLY=($(compgen -W "$positionals" -- "$word"))
}
complete -o default -F _workbench workbench
)";
}

std::string zsh_completion(const CommandFacts& program) {
    std::string commands;
    std::string cases;
    for (const CommandFacts& command : program.commands) {
        commands += fmt::format("        '{}:{}'\n", command.name, quotable(escaped(command.help, "\\:")));
        cases += fmt::format("        {}) _arguments{} ;;\n", command.name, zsh_arguments(command));
    }
    return R"(#compdef workbench
# zsh completion of the SpMV workbench, written by 'workbench completion zsh'.
_workbench() {
    local -a commands=(
)" + commands +
           R"(    )
    if ((CURRENT == 2)); then
        _describe command commands
        _arguments)" +
           zsh_arguments(program) + R"(
        return
    fi
    shift words
    ((CURRENT--))
    case $words[1] in
)" + cases +
           R"(    esac
}
_workbench "$@"
)";
}

std::string fish_completion(const CommandFacts& program) {
    std::string text = "# fish completion of the SpMV workbench, written by 'workbench completion fish'.\n";
    const std::string first = "__fish_use_subcommand";
    for (const OptionFacts& option : program.options) text += fish_option(first, option);
    for (const CommandFacts& command : program.commands) {
        text +=
            fmt::format("complete -c workbench -n '{}' -f -a {} -d '{}'\n", first, command.name, escaped(command.help, "\\'"));
    }
    for (const CommandFacts& command : program.commands) {
        const std::string inside = "__fish_seen_subcommand_from " + command.name;
        for (const OptionFacts& option : command.options) text += fish_option(inside, option);
        const std::vector<std::string> choices = choices_of(command.positionals);
        if (!choices.empty()) {
            text += fmt::format("complete -c workbench -n '{}' -f -a '{}'\n", inside, fmt::join(choices, " "));
        }
    }
    return text;
}

}  // namespace workbench
