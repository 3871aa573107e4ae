// The manual page.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/contract/errors.hpp"
#include "frontends/cli/command_line.hpp"
#include "frontends/cli/provenance.hpp"

namespace workbench {
namespace {

/// Escapes text for troff, so that hyphens can be searched for and no line is taken for a request.
std::string troff(const std::string& text) {
    std::string result = text.starts_with('.') || text.starts_with('\'') ? R"(\&)" : "";
    for (const char c : text) {
        if (c == '\\') {
            result += R"(\e)";
        } else if (c == '-') {
            result += R"(\-)";
        } else {
            result += c;
        }
    }
    return result;
}

/// The options and arguments with their values, ranges and defaults, as in the help texts.
std::string entries(const CLI::App& command) {
    const CLI::Formatter format;
    std::string text;
    for (const CLI::Option* option : command.get_options()) {
        text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", troff(format.make_option_name(option, !option->nonpositional())),
                            troff(format.make_option_opts(option)), troff(option->get_description()));
    }
    return text;
}

std::string exit_status(ExitCode code, const std::string& meaning) {
    return fmt::format(".TP\n{}\n{}\n", static_cast<int>(code), troff(meaning));
}

}  // namespace

std::string manual_page(const CLI::App& program) {
    std::string text = fmt::format(".TH WORKBENCH 1 \"\" \"{}\" \"SpMV workbench\"\n", troff(version_number()));
    text += ".SH NAME\nworkbench \\- run, verify, draw and time sparse-matrix storage formats\n";
    text += ".SH SYNOPSIS\n\\fBworkbench\\fR COMMAND [ARGUMENT]...\n";
    text += ".SH DESCRIPTION\n" + troff(program.get_description()) + "\n" + entries(program) + ".SH COMMANDS\n";
    for (const CLI::App* command : program.get_subcommands({})) {
        text += fmt::format(".SS {}\n{}.\n{}", command->get_name(), troff(command->get_description()), entries(*command));
    }
    text += ".SH EXIT STATUS\n" + exit_status(ExitCode::ok, "Success.") +
            exit_status(ExitCode::wrong_result, "A kernel gave a wrong result, or fetch could not fetch all matrices.") +
            exit_status(ExitCode::bad_recipe, "The command line or a recipe is invalid.") +
            exit_status(ExitCode::bad_input, "The matrix cannot be read or does not suit the recipe.") +
            exit_status(ExitCode::machine_error, "The machine lacks a resource, such as a GPU, memory or disk space.") +
            exit_status(ExitCode::iteration_limit, "solve: the iteration limit was reached.") +
            exit_status(ExitCode::stagnated, "solve: the residual stagnated.") +
            exit_status(ExitCode::indefinite, "solve: the matrix is not positive definite.") +
            exit_status(ExitCode::breakdown, "solve: the method broke down.") +
            exit_status(ExitCode::dishonest, "judge: the kernel was right when it was verified, and wrong when it was timed.") +
            exit_status(ExitCode::program_error, "A bug in the program.") +
            exit_status(ExitCode::stopped, "bench was interrupted.");
    text += ".SH FILES\n.TP\n" + troff("../share/spmv-workbench/recipes") +
            "\nThe installed recipes, relative to the program's folder. A path such as " + troff("recipes/ehyb.toml") +
            " that does not exist in the current folder is looked up there.\n.TP\n" + troff("../share/doc/spmv-workbench") +
            "\nThe documentation.\n";
    return text;
}

}  // namespace workbench
