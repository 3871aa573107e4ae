// workbench completion and workbench manual: descriptions of the command line.
#include <fmt/format.h>

#include "frontends/cli/command.hpp"
#include "frontends/cli/command_line.hpp"

namespace workbench {
namespace {

struct SelfArguments {
    const CLI::App* program = nullptr;
    std::string shell;
};

ExitCode print_completion(const SelfArguments& arguments) {
    fmt::print("{}", completion_script(arguments.shell));
    return ExitCode::ok;
}

ExitCode print_manual(const SelfArguments& arguments) {
    fmt::print("{}", manual_page(*arguments.program));
    return ExitCode::ok;
}

}  // namespace

void add_completion_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "completion", "Print a completion script for a shell", print_completion);
    command.add_option("shell", arguments.shell, "The shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
}

void add_manual_command(CLI::App& app, Action& action) {
    add_command(app, action, "manual", "Print the manual page in man format", print_manual).arguments.program = &app;
}

}  // namespace workbench
