// workbench completion and workbench manual: descriptions of the command line.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/command_facts.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {

void add_completion_command(CLI::App& app, Action& action) {
    const auto shell = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
    command->add_option("shell", *shell, "The shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    command->callback([shell, &app, &action] {
        action = [shell, &app] {
            const CommandFacts program = facts_of(app);
            if (*shell == "bash") fmt::print("{}", bash_completion(program));
            if (*shell == "zsh") fmt::print("{}", zsh_completion(program));
            if (*shell == "fish") fmt::print("{}", fish_completion(program));
            return ExitCode::ok;
        };
    });
}

void add_manual_command(CLI::App& app, Action& action) {
    CLI::App* command = app.add_subcommand("manual", "Print the manual page in man format");
    command->callback([&app, &action] {
        action = [&app] {
            fmt::print("{}", manual_page(facts_of(app)));
            return ExitCode::ok;
        };
    });
}

}  // namespace workbench
