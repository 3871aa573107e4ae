// The manual page.
#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "frontends/cli/command_facts.hpp"
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

std::string bold(const std::string& text) { return R"(\fB)" + troff(text) + R"(\fR)"; }
std::string italic(const std::string& text) { return R"(\fI)" + troff(text) + R"(\fR)"; }

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

std::string entry(const OptionFacts& option, bool positional) {
    std::string head;
    for (const std::string& name : option.names) {
        head += (head.empty() ? "" : ", ") + (positional ? italic(name) : bold(name));
    }
    if (!positional && !option.value.empty()) head += " " + italic(option.value);
    std::string text = sentence(option.help);
    if (!option.choices.empty()) text += fmt::format(" Values: {}.", fmt::join(option.choices, ", "));
    if (!option.range.empty()) text += fmt::format(" Range: {}.", option.range);
    if (!option.default_value.empty()) text += fmt::format(" Default: {}.", option.default_value);
    if (option.required && !positional) text += " Required.";
    if (option.by_commas) {
        text += " Separate several values by commas.";
    } else if (option.repeated && !positional) {
        text += " May be repeated.";
    }
    return fmt::format(".TP\n{}\n{}\n", head, troff(text));
}

std::string entries(const CommandFacts& command) {
    std::string text;
    for (const OptionFacts& option : command.positionals) text += entry(option, true);
    for (const OptionFacts& option : command.options) text += entry(option, false);
    return text;
}

std::string section(const CommandFacts& command) {
    std::string usage = bold("workbench " + command.name) + " [" + italic("option") + "]...";
    for (const OptionFacts& option : command.positionals) {
        const std::string word = italic(option.names.front()) + (option.repeated ? "..." : "");
        usage += option.required ? " " + word : " [" + word + "]";
    }
    return fmt::format(".SS {}\n{}\n.PP\n{}\n{}", command.name, usage, troff(sentence(command.help)), entries(command));
}

std::string exit_status(ExitCode code, const std::string& meaning) {
    return fmt::format(".TP\n{}\n{}\n", static_cast<int>(code), troff(meaning));
}

}  // namespace

std::string manual_page(const CommandFacts& program) {
    std::string text = fmt::format(".TH WORKBENCH 1 \"\" \"{}\" \"SpMV workbench\"\n", troff(version_number()));
    text += ".SH NAME\nworkbench \\- run, verify, draw and time sparse-matrix storage formats\n";
    text += ".SH SYNOPSIS\n" + bold("workbench") + " " + italic("command") + " [" + italic("argument") + "]...\n";
    text += ".SH DESCRIPTION\n" + troff(program.help) + "\n" + entries(program);
    text += ".SH COMMANDS\n";
    for (const CommandFacts& command : program.commands) text += section(command);
    text += ".SH EXIT STATUS\n" + exit_status(ExitCode::ok, "Success.") +
            exit_status(ExitCode::wrong_result, "A kernel gave a wrong result, or fetch could not fetch all matrices.") +
            exit_status(ExitCode::bad_recipe, "The command line or a recipe is invalid.") +
            exit_status(ExitCode::bad_input, "The matrix cannot be read or does not suit the recipe.") +
            exit_status(ExitCode::machine_error, "The machine lacks a resource, such as a GPU, memory or disk space.") +
            exit_status(ExitCode::iteration_limit, "solve: the iteration limit was reached.") +
            exit_status(ExitCode::stagnated, "solve: the residual stagnated.") +
            exit_status(ExitCode::indefinite, "solve: the matrix is not positive definite.") +
            exit_status(ExitCode::breakdown, "solve: the method broke down.") +
            exit_status(ExitCode::program_error, "A bug in the program.") +
            exit_status(ExitCode::stopped, "bench was interrupted.");
    text += ".SH FILES\n.TP\n" + italic("../share/spmv-workbench/recipes") +
            "\nThe installed recipes, relative to the program's folder. A path such as " + troff("recipes/ehyb.toml") +
            " that does not exist in the current folder is looked up there.\n.TP\n" + italic("../share/doc/spmv-workbench") +
            "\nThe documentation.\n";
    return text;
}

}  // namespace workbench
