// workbench info
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/read_options.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/text_table.hpp"

namespace workbench {
namespace {

void print_legend() {
    TextTable table;
    table.left_columns = 2;
    table.header = {"figure", "what it says"};
    for (const auto& [label, meaning] : legend_of_metrics()) table.rows.push_back({label, meaning});
    fmt::print("\n{}", table.text());
}

int info(const MatrixFile& file, bool json, bool legend) {
    const KokkosRuntime kokkos;
    auto [matrix, report] = load_matrix({file});
    const Metrics metrics = measure(stage_input(std::move(matrix)));
    if (json) {
        fmt::print("{}", to_json(report, metrics));
        return exit_ok;
    }
    TextTable table;
    table.left_columns = 2;
    table.header = {report.source, fmt::format("{} x {}", with_commas(report.rows), with_commas(report.columns))};
    table.rows.push_back({"nonzeros", with_commas(report.nonzeros)});
    for (const auto& [label, value] : caption_of(metrics)) table.rows.push_back({label, value});
    fmt::print("{}", table.text());
    if (legend) print_legend();
    return exit_ok;
}

}  // namespace

void add_info_command(CLI::App& app, Action& action) {
    const auto file = std::make_shared<std::string>();
    const auto member = std::make_shared<std::string>();
    const auto json = std::make_shared<bool>(false);
    const auto legend = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("info", "Show the size and the metrics of a matrix");
    command->add_option("matrix", *file, fmt::format("Matrix file: {}", readable_files))->required()->type_name("MATRIX");
    command->add_flag("--json", *json, "As one JSON object");
    command->add_flag("--legend", *legend, "Say what the figures mean");
    add_read_options(*command, *member);
    command->callback([=, &action] { action = [=] { return info({*file, *member}, *json, *legend); }; });
}

}  // namespace workbench
