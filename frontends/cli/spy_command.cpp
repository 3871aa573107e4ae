// workbench spy: draws the sparsity pattern of a matrix in the terminal.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "viz/spy.hpp"

namespace workbench {
namespace {

struct SpyArguments {
    DrawnArguments drawn;
    std::string stage;
    std::optional<int> columns;
    std::optional<int> lines;
};

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// True if the locale uses UTF-8; the first of these variables that is set decides.
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

/// The size of the terminal, or else that in COLUMNS and LINES, or else 80 x 24.
SpyStyle style_of(const SpyArguments& arguments) {
    winsize window{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
    const auto number = [](std::string_view text, int otherwise) {
        const int value = std::atoi(std::string(text).c_str());
        return value > 0 ? value : otherwise;
    };
    const int columns = arguments.columns.value_or(known ? window.ws_col : number(environment("COLUMNS"), 80));
    const int lines = arguments.lines.value_or(known ? window.ws_row : number(environment("LINES"), 24));
    constexpr int others = 3;  // heading, legend and prompt
    return {.columns = std::clamp(columns, 10, 2000),
            .lines = std::clamp(lines - others, 6, 1000),
            .unicode = shows_unicode(),
            .colours = colours()};
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
    const MatrixReport& matrix = report.matrix;
    const std::string after = recipe.stages.empty() ? "" : fmt::format(", after {}", report.stages[number].id);
    fmt::print("{}: {}{}\n{}", printable(matrix.source), size_text(matrix.rows, matrix.columns, matrix.nonzeros), after,
               picture);
    return ExitCode::ok;
}

}  // namespace

void add_spy_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "spy", "Show the sparsity pattern of a matrix in the terminal", spy);
    add_drawn_options(command, arguments.drawn);
    command.add_option("--stage", arguments.stage, "Show the matrix after this stage (its id, or 'input') (default: the last)")
        ->type_name("ID");
    add_number(command, "--columns", arguments.columns, Range{10, 2000, "COUNT"},
               "Width in characters (default: that of the terminal)");
    add_number(command, "--lines", arguments.lines, Range{9, 1000, "COUNT"}, "Height in lines (default: that of the terminal)");
}

}  // namespace workbench
