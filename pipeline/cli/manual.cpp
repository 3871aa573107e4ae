// The manual page.
#include <fmt/format.h>

#include "pipeline/cli/command_facts.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// As plain text in troff: a hyphen that can be searched for, and no line that begins with a request.
std::string plain(const std::string& text) {
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

std::string bold(const std::string& text) { return R"(\fB)" + plain(text) + R"(\fR)"; }
std::string italic(const std::string& text) { return R"(\fI)" + plain(text) + R"(\fR)"; }

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

std::string entry(const OptionFacts& option, bool positional) {
    std::string head;
    for (const std::string& name : option.names) {
        head += (head.empty() ? "" : ", ") + (positional ? italic(name) : bold(name));
    }
    if (!positional && !option.value.empty()) head += " " + italic(option.value);
    std::string text = sentence(option.help);
    if (!option.choices.empty()) text += fmt::format(" One of: {}.", fmt::join(option.choices, ", "));
    if (!option.range.empty()) text += fmt::format(" In {}.", option.range);
    if (!option.default_value.empty()) text += fmt::format(" Default: {}.", option.default_value);
    if (option.required && !positional) text += " Required.";
    if (option.by_commas) {
        text += " Several: by commas.";
    } else if (option.repeated && !positional) {
        text += " May be given several times.";
    }
    return fmt::format(".TP\n{}\n{}\n", head, plain(text));
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
    return fmt::format(".SS {}\n{}\n.PP\n{}\n{}", command.name, usage, plain(sentence(command.help)), entries(command));
}

std::string exit_status(ExitCode code, const std::string& meaning) {
    return fmt::format(".TP\n{}\n{}\n", static_cast<int>(code), plain(meaning));
}

}  // namespace

std::string manual_page(const CommandFacts& program) {
    std::string text = fmt::format(".TH WORKBENCH 1 \"\" \"{}\" \"SpMV workbench\"\n", plain(version_number()));
    text += ".SH NAME\nworkbench \\- run, check, draw and time storage formats of sparse matrices\n";
    text += ".SH SYNOPSIS\n" + bold("workbench") + " " + italic("command") + " [" + italic("argument") + "]...\n";
    text += ".SH DESCRIPTION\n" + plain(program.help) + "\n" + entries(program);
    text += ".SH COMMANDS\n";
    for (const CommandFacts& command : program.commands) text += section(command);
    text += ".SH EXIT STATUS\n" + exit_status(ExitCode::ok, "All went well.") +
            exit_status(ExitCode::wrong_result, "A result was wrong.") +
            exit_status(ExitCode::bad_recipe, "A bad command line or recipe.") +
            exit_status(ExitCode::bad_input, "A bad input matrix.") +
            exit_status(ExitCode::machine_error, "The machine lacks something, as a GPU that was asked for.") +
            exit_status(ExitCode::program_error, "An error of the program itself.");
    text +=
        ".SH FILES\n.TP\n" + italic("share/spmv-workbench/recipes") +
        "\nThe recipes, beside the folder of the program. A recipe that is not in the present folder is taken from there: " +
        plain("recipes/ehyb.toml") + ".\n.TP\n" + italic("share/doc/spmv-workbench") + "\nThe documentation.\n";
    return text;
}

}  // namespace workbench
