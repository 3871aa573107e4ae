// workbench info
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/line_values.hpp"
#include "core/matrix/value_statistics.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/text_table.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/report/row_statistics.hpp"

namespace workbench {
namespace {

struct InfoOptions {
    std::vector<std::string> files;
    std::string member;  // of an archive
    bool table = false;
    bool json = false;
    bool legend = false;
};

using Legend = std::vector<std::pair<std::string, std::string>>;

void print_legend(const Legend& legend) {
    TextTable table;
    table.left_columns = 2;
    table.header = {"figure", "meaning"};
    for (const auto& [label, meaning] : legend) table.rows.push_back({label, meaning});
    print_text("\n{}", table.text());
}

Legend legend_of_info() {
    Legend legend = legend_of_metrics();
    legend.emplace_back("distinct values", "values that differ in their bits");
    legend.emplace_back("entropy of a value", "bytes per value that a code by frequency needs at least");
    legend.emplace_back("values exact in f32", "whether f32 represents all of them exactly");
    legend.emplace_back("equal values", "whether those of each row, or of each column, are equal");
    return legend;
}

std::string where_values_are_equal(const ValueStatistics& values) {
    if (values.distinct <= 1) return "all";
    if (values.one_a_row) return values.one_a_column ? "in each row, in each column" : "in each row";
    return values.one_a_column ? "in each column" : "no";
}

MeasuredMatrix measured(const MatrixFile& file) {
    auto [matrix, report] = load_matrix({file});
    report.values = value_statistics(matrix.values);
    report.values->one_a_row = have_equal_values<double>(matrix, Line::row);
    report.values->one_a_column = have_equal_values<double>(matrix, Line::column);
    return {std::move(report), measure(stage_input(std::move(matrix)))};
}

ExitCode info_of_one(const InfoOptions& options) {
    const auto [report, metrics] = measured({options.files.front(), options.member});
    if (options.json) {
        fmt::print("{}", to_json(report, metrics));
        return ExitCode::ok;
    }
    TextTable table;
    table.left_columns = 2;
    table.header = {report.source, fmt::format("{} x {}", with_commas(report.rows), with_commas(report.columns))};
    table.rows.push_back({"nonzeros", with_commas(report.nonzeros)});
    for (const auto& [label, value] : caption_of(metrics)) table.rows.push_back({label, value});
    const ValueStatistics& values = *report.values;
    table.rows.push_back({"distinct values", with_commas(values.distinct)});
    table.rows.push_back({"entropy of a value", fmt::format("{:.3g} B", values.entropy_bytes)});
    table.rows.push_back({"values exact in f32", values.exact_in_f32 ? "yes" : "no"});
    table.rows.push_back({"equal values", where_values_are_equal(values)});
    print_text("{}", table.text());
    if (options.legend) print_legend(legend_of_info());
    return ExitCode::ok;
}

ExitCode info_table(const InfoOptions& options) {
    std::vector<MeasuredMatrix> matrices;
    for (const std::string& file : options.files) matrices.push_back(measured({file, options.member}));
    fmt::print("{}", options.json ? to_json(matrices) : printable(row_statistics_text(matrices)));
    if (options.legend && !options.json) print_legend(legend_of_row_statistics());
    return ExitCode::ok;
}

ExitCode info(const InfoOptions& options) {
    const KokkosRuntime kokkos;
    return options.table || options.files.size() > 1 ? info_table(options) : info_of_one(options);
}

}  // namespace

void add_info_command(CLI::App& app, Action& action) {
    const auto [command, options] = add_command(
        app, action, "info", "Show size and metrics of a matrix, or row-length statistics of several matrices", info);
    command.add_option("matrix", options.files, fmt::format("Matrix files: {}", readable_files))
        ->required()
        ->type_name("MATRIX");
    command.add_flag("--table", options.table, "Print the table of row-length statistics even for a single matrix");
    command.add_flag("--json", options.json, "Print one JSON object");
    command.add_flag("--legend", options.legend, "Explain the figures");
    add_read_options(command, options.member);
}

}  // namespace workbench
