// workbench completion, manual and schema: descriptions of the command line and of files.
#include <fmt/format.h>

#include "frontends/cli/command.hpp"
#include "frontends/cli/command_line.hpp"
#include "frontends/schema/schema.hpp"
#include "pipeline/catalogue/catalogue.hpp"

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

ExitCode print_schema(const std::string& kind) {
    const SchemaOf of = kind == "suite" ? SchemaOf::suite : kind == "space" ? SchemaOf::space : SchemaOf::recipe;
    fmt::print("{}", schema_text(of, catalogue()));
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

void add_schema_command(CLI::App& app, Action& action) {
    const auto [command, kind] =
        add_command(app, action, "schema", "Print the JSON schema of recipes, suites or spaces, for editors", print_schema);
    command.add_option("kind", kind, "recipe, suite or space (default: recipe)")
        ->check(CLI::IsMember({"recipe", "suite", "space"}))
        ->type_name("KIND");
}

}  // namespace workbench
