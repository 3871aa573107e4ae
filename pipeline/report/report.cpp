#include "pipeline/report/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/report/figures.hpp"

namespace workbench {

std::string note_on_loading(double process_seconds) {
    return fmt::format("loading kernels took {} once for this process, beside the times above", duration(process_seconds));
}

std::string RunReport::title() const { return sweep.label.empty() ? recipe_name : recipe_name + ": " + sweep.label; }

std::string RunReport::conditions() const {
    return std::string(words_of(cache)) + (vectors == 1 ? "" : fmt::format(", {} vectors", vectors));
}

double RunReport::stage_seconds(Precision precision) const {
    double sum = 0;
    for (const StageOutcome& stage : stages) {
        if (!stage.precision || *stage.precision == precision) sum += stage.seconds;
    }
    return sum;
}

std::size_t RunReport::stage_before(std::size_t i) const {
    std::size_t before = i - 1;
    while (stages[before].precision && stages[before].precision != stages[i].precision) --before;
    return before;
}

bool RunReport::has_shares() const {
    return std::any_of(layouts.begin(), layouts.end(), [](const LayoutOutcome& layout) { return !layout.share.empty(); });
}

bool RunReport::all_verified() const {
    return std::none_of(kernels.begin(), kernels.end(),
                        [](const KernelOutcome& kernel) { return kernel.status == KernelOutcome::Status::wrong; });
}

namespace {

TextTable stage_table(const RunReport& report) {
    TextTable table;
    table.left_columns = 2;
    table.header = {"", "stage", "time"};
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
        const StageOutcome& stage = report.stages[i];
        table.rows.push_back({std::to_string(i), stage.label(), i == 0 ? "-" : duration(stage.seconds)});
    }
    for (const auto& cell : cells_of(metric_figures(), &Figure<Metrics>::table)) {
        const auto has = [&cell](const StageOutcome& stage) { return cell.there(stage.metrics); };
        if (!cell.shown().always && std::none_of(report.stages.begin(), report.stages.end(), has)) continue;
        table.header.push_back(cell.shown().label);
        for (std::size_t i = 0; i < report.stages.size(); ++i) {
            table.rows[i].push_back(cell.text(report.stages[i].metrics, "/"));
        }
    }
    return table;
}

/// "csr"; for a share of a hybrid "long: csr".
std::string with_share(const std::string& layout, const std::string& share) {
    return share.empty() ? layout : share + ": " + layout;
}

TextTable kernel_table(const RunReport& report) {
    const auto cells = cells_of(kernel_figures(), &Figure<KernelOutcome>::table);
    TextTable table;
    table.left_columns = 4;
    table.header = {"layout", "kernel", "backend", ""};
    for (const auto& cell : cells) table.header.push_back(cell.shown().label);
    for (const KernelOutcome& kernel : report.kernels) {
        if (!kernel.verified()) continue;
        table.rows.push_back({with_share(kernel.layout, kernel.share), kernel.kernel, std::string(name_of(kernel.backend)),
                              std::string(name_of(kernel.precision))});
        for (const auto& cell : cells) table.rows.back().push_back(cell.text(kernel));
    }
    return table;
}

double padding_share(std::size_t slots, std::size_t nonzeros) {
    return slots == 0 ? 0 : static_cast<double>(slots - nonzeros) / static_cast<double>(slots);
}

std::string footprint_line(const LayoutOutcome& layout, bool is_whole_of_shares) {
    std::string name = fmt::format("{} {}", with_share(layout.name, layout.share), name_of(layout.precision));
    if (!layout.unsuitable.empty()) return fmt::format("  {}: unsuitable: {}\n", name, layout.unsuitable);
    const auto nonzeros = static_cast<std::size_t>(layout.nonzeros);
    // Fewer slots than nonzeros: some serve two, and only the layout distinguishes padding.
    const std::string filled = layout.slots() < nonzeros
                                   ? fmt::format("for {}", counted_with_commas(nonzeros, "nonzero"))
                                   : fmt::format("with {} of padding", percent(padding_share(layout.slots(), nonzeros)));
    std::string line =
        fmt::format("  {}: built in {}, {} in all, {} {}\n", name, duration(layout.seconds),
                    byte_count(static_cast<double>(layout.bytes())), counted_with_commas(layout.slots(), "slot"), filled);
    if (!layout.share.empty()) {
        line += fmt::format("    {}, {}\n", counted_with_commas(static_cast<long long>(layout.nonzeros), "nonzero"),
                            counted_with_commas(static_cast<long long>(layout.rows), "row"));
    }
    if (is_whole_of_shares) return line;  // each share lists its own
    for (const LayoutOutcome::Array& array : layout.footprint) {
        line += fmt::format("    {:<22}{:>14} x {} B{:>14}\n", array.name, with_commas(static_cast<long long>(array.count)),
                            array.count == 0 ? 0 : array.bytes / array.count, byte_count(static_cast<double>(array.bytes)));
    }
    for (const auto& [what, text] : layout.notes) line += fmt::format("    {}: {}\n", what, text);
    return line;
}

/// The input has no price.
std::string shared_stages(const RunReport& report) {
    std::string names;
    for (std::size_t i = 1; i < report.stages.size(); ++i) {
        if (report.stages[i].shared) names += (names.empty() ? "" : ", ") + report.stages[i].label();
    }
    return names.empty() ? "" : fmt::format("  shared: {}: run and timed once, for an earlier recipe of this run\n", names);
}

std::string legend_of_rounding(const RunReport& report) {
    std::vector<std::string> names{report.title()};
    for (const LayoutOutcome& layout : report.layouts) names.push_back(layout.name);
    const std::string legend = legend_of_marks(names);
    return legend.empty() ? legend : fmt::format("  {}, with which it was verified\n", legend);
}

std::string kernels_without_figures(const RunReport& report) {
    std::string text;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.verified()) continue;
        text += fmt::format("  {} {} {} {}: {}: {}\n", with_share(kernel.layout, kernel.share), kernel.kernel,
                            name_of(kernel.backend), name_of(kernel.precision),
                            kernel.status == KernelOutcome::Status::wrong ? "WRONG RESULT" : "unsuitable", kernel.reason);
    }
    return text;
}

std::string remarks(const RunReport& report) {
    std::string text;
    if (report.process_seconds > 0) text += fmt::format("  note: {}\n", note_on_loading(report.process_seconds));
    for (const std::string& note : report.notes) text += "  note: " + note + '\n';
    std::vector<std::string> said;
    for (const KernelOutcome& kernel : report.kernels) {
        for (const std::string& warning : kernel.warnings) {
            if (std::find(said.begin(), said.end(), warning) != said.end()) continue;
            said.push_back(warning);
            text += "  warning: " + warning + '\n';
        }
    }
    for (const Failure& failure : report.failures) text += "  error: " + failure.text + '\n';
    return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> caption_of(const Metrics& metrics) {
    std::vector<std::pair<std::string, std::string>> caption;
    for (const auto& cell : cells_of(metric_figures(), &Figure<Metrics>::caption)) {
        if (cell.there(metrics)) caption.emplace_back(cell.shown().label, cell.text(metrics));
    }
    return caption;
}

std::vector<std::pair<std::string, std::string>> legend_of_metrics() {
    auto cells = cells_of(metric_figures(), &Figure<Metrics>::caption);
    std::erase_if(cells, [](const auto& cell) { return !cell.there(Metrics()); });
    return legend_of(cells);
}

std::string to_text(const RunReport& report) {
    std::string text = fmt::format("{}\n", report.title());
    if (!report.recipe_source.empty()) text += fmt::format("  {}\n", report.recipe_source);
    text += fmt::format("  {}: {}, read in {}\n", report.matrix.source,
                        size_text(report.matrix.rows, report.matrix.columns, report.matrix.nonzeros),
                        duration(report.matrix.read_seconds));
    if (!report.stages.empty()) text += "\nStages\n" + stage_table(report).text();
    for (const StageOutcome& stage : report.stages) {
        for (const auto& [name, value] : stage.notes) text += fmt::format("  {}: {}: {}\n", stage.label(), name, value);
    }
    text += shared_stages(report);
    if (!report.layouts.empty()) text += "\nLayout\n";
    for (const LayoutOutcome& layout : report.layouts)
        text += footprint_line(layout, report.has_shares() && layout.share.empty());
    if (!report.kernels.empty() || report.failures.empty()) {
        text += fmt::format("\nKernels ({})\n", report.conditions()) + kernel_table(report).text();
    }
    text += legend_of_rounding(report) + kernels_without_figures(report);
    if (const std::string more = remarks(report); !more.empty()) text += '\n' + more;
    return printable(text);
}

}  // namespace workbench
