// Completion in bash, zsh and fish.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frontends/cli/command_line.hpp"

namespace workbench {
namespace {

/// The allowed values, which CLI11 lists after the placeholder: "WHICH:{f32,f64}".
std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find(":{");
    return begin == std::string::npos ? std::vector<std::string>()
                                      : CLI::detail::split(type.substr(begin + 2, type.find('}') - begin - 2), ',');
}

/// The option with this name, if a value must follow.
const CLI::Option* option_with_value(const CLI::App& command, const std::string& name) {
    const CLI::Option* option = name.starts_with('-') ? command.get_option_no_throw(name) : nullptr;
    return option != nullptr && option->get_expected_max() > 0 ? option : nullptr;
}

/// The word that is completed: what remains as it is, and the beginning of what follows.
struct Cursor {
    std::string before = {};
    std::string word = {};
    std::string found = {};

    void move_behind(std::size_t place) {
        before += word.substr(0, place + 1);
        word.erase(0, place + 1);
    }
    void offer(const std::string& candidate, const std::string& help = "") {
        if (candidate.starts_with(word)) found += fmt::format("{}{}\t{}\n", before, candidate, help);
    }
};

}  // namespace

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    if (!option.nonpositional()) return names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

std::string completions(const CLI::App& program, std::vector<std::string> words) {
    // bash splits --option=value into three words.
    if (words.empty() || words.back() == "=") words.emplace_back();
    std::erase(words, "=");
    Cursor cursor{.word = words.back()};
    words.pop_back();
    const CLI::App* command = &program;
    if (!words.empty()) {
        const auto named = program.get_subcommands([&](const CLI::App* each) { return each->get_name() == words.front(); });
        if (named.empty()) return "";
        command = named.front();
    }
    std::string last = words.empty() ? "" : words.back();
    if (const std::size_t equals = cursor.word.find('='); equals != std::string::npos && cursor.word.starts_with("--")) {
        last = cursor.word.substr(0, equals);
        cursor.move_behind(equals);
    }
    if (const CLI::Option* option = option_with_value(*command, last)) {
        const std::size_t comma = option->get_delimiter() == ',' ? cursor.word.rfind(',') : std::string::npos;
        if (comma != std::string::npos) cursor.move_behind(comma);
        for (const std::string& choice : choices_of(*option)) cursor.offer(choice);
    } else if (cursor.word.starts_with('-')) {
        for (const CLI::Option* each : command->get_options()) {
            for (const std::string& name : names_of(*each)) cursor.offer(name, each->get_description());
        }
    } else {
        for (const CLI::App* each : command->get_subcommands({})) cursor.offer(each->get_name(), each->get_description());
        for (const CLI::Option* each : command->get_options()) {
            if (each->nonpositional()) continue;
            for (const std::string& choice : choices_of(*each)) cursor.offer(choice);
        }
    }
    return cursor.found;
}

std::string completion_script(const std::string& shell) {
    const std::string head = "# Completion of the SpMV workbench, written by 'workbench completion " + shell +
                             "'. The program completes words; otherwise the shell completes files.\n";
    if (shell == "bash") {
        return head + R"(_workbench() {
    mapfile -t COMPREPLY < <("$1" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
}
complete -o default -F _workbench workbench
)";
    }
    if (shell == "zsh") {
        return "#compdef workbench\n" + head + R"(_workbench() {
    local -a found=("${(@f)$(${words[1]} complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)${(@)found//:/\\:}/$'\t'/:}")
    if [[ -n $found[1] ]]; then _describe workbench found; else _files; fi
}
_workbench "$@"
)";
    }
    return head + R"(function __workbench_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] complete $words[2..] 2>/dev/null)
    if test -n "$found"
        printf '%s\n' $found
    else
        __fish_complete_path $words[-1]
    end
end
complete -c workbench -f -a '(__workbench_complete)'
)";
}

}  // namespace workbench
