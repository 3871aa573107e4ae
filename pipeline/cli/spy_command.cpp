// workbench spy: the pattern of a matrix in the terminal.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/drawn_stages.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/text/text_table.hpp"
#include "viz/spy.hpp"

namespace workbench {
namespace {

struct SpyArguments {
    DrawnArguments drawn;
    std::string stage;
    int columns = 0;  // 0: as the window has them
    int lines = 0;
};

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The first of these that is set decides what characters the terminal shows.
bool shows_unicode() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string locale(environment(name));
        if (locale.empty()) continue;
        std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::tolower(c); });
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

TerminalColours colours() {
    const std::string_view terminal = environment("TERM");
    if (isatty(STDOUT_FILENO) != 1 || !environment("NO_COLOR").empty()) return TerminalColours::none;
    if (terminal.empty() || terminal == "dumb") return TerminalColours::none;
    const bool many = terminal.find("256color") != std::string_view::npos || !environment("COLORTERM").empty();
    return many ? TerminalColours::many : TerminalColours::few;
}

/// The window's size; of what is no window, what COLUMNS and LINES say, or 80 x 24.
SpyStyle style_of(const SpyArguments& arguments) {
    winsize window{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
    const auto number = [](std::string_view text, int otherwise) {
        const int value = std::atoi(std::string(text).c_str());
        return value > 0 ? value : otherwise;
    };
    int columns = known ? window.ws_col : number(environment("COLUMNS"), 80);
    int lines = known ? window.ws_row : number(environment("LINES"), 24);
    if (arguments.columns > 0) columns = arguments.columns;
    if (arguments.lines > 0) lines = arguments.lines;
    constexpr int others = 3;  // the head, what a dot is, and the prompt after it
    return {std::clamp(columns, 10, 2000), std::clamp(lines - others, 6, 1000), shows_unicode(), colours()};
}

ExitCode spy(const SpyArguments& arguments) {
    const KokkosRuntime kokkos;
    const Recipe recipe = drawn_recipe(arguments.drawn);
    const std::size_t number = stage_number(recipe, arguments.stage);
    const SpyStyle style = style_of(arguments);
    std::string picture;
    std::size_t stage = 0;
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        if (stage++ == number) picture = spy_text(staged, style);
    });
    const std::string after = recipe.stages.empty() ? "" : fmt::format(", after {}", report.stages[number].id);
    const std::string times = style.unicode ? "×" : "x";
    fmt::print("{}: {} {} {}, {} nonzeros{}\n{}", report.matrix.source, with_commas(report.matrix.rows), times,
               with_commas(report.matrix.columns), with_commas(report.matrix.nonzeros), after, picture);
    return ExitCode::ok;
}

}  // namespace

void add_spy_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<SpyArguments>();
    CLI::App* command = app.add_subcommand("spy", "Show the pattern of a matrix in the terminal");
    add_drawn_options(*command, arguments->drawn);
    command->add_option("--stage", arguments->stage, "Of a recipe: after this stage (its id, or 'input') instead of the last")
        ->type_name("ID");
    command->add_option("--columns", arguments->columns, "Instead of those of the window")
        ->check(CLI::Range(10, 2000))
        ->type_name("COUNT");
    command->add_option("--lines", arguments->lines, "Instead of those of the window")
        ->check(CLI::Range(9, 1000))
        ->type_name("COUNT");
    command->callback([arguments, &action] { action = [arguments] { return spy(*arguments); }; });
}

}  // namespace workbench
