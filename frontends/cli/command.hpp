// Declares subcommands and their options with CLI11.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "frontends/cli/commands.hpp"
#include "frontends/cli/options.hpp"

namespace workbench {

/// A subcommand and its arguments, which parsing fills.
template <typename Arguments>
struct Command {
    CLI::App& command;
    Arguments& arguments;
};

/// Adds a subcommand whose action is `act` with the parsed arguments.
template <typename Arguments>
Command<Arguments> add_command(CLI::App& program, Action& action, const std::string& name, const std::string& help,
                               ExitCode (*act)(const Arguments&)) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.add_subcommand(name, help);
    command->callback([arguments, act, &action] { action = [arguments, act] { return act(*arguments); }; });
    return {*command, *arguments};
}

/// The values of a number, and their placeholder in help texts.
template <typename Number>
struct Range {
    Number low;
    Number high;
    const char* placeholder;
};
template <typename Number>
Range(Number, Number, const char*) -> Range<Number>;  // clang 14 deduces none for aggregates

/// "1000" for "1e3"; other texts are unchanged.
[[nodiscard]] std::string plain_integer(std::string text);

/// An option that takes a number; a plain number (rather than an optional one) is the default.
template <typename Value, typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Value& value, const Range<Number>& range,
                        const std::string& help) {
    CLI::Option* option =
        command.add_option(name, value, help)->check(CLI::Range(range.low, range.high))->type_name(range.placeholder);
    if constexpr (std::is_integral_v<Number>) option->transform(plain_integer);
    return std::is_arithmetic_v<Value> ? option->capture_default_str() : option;
}

}  // namespace workbench
