#include "pipeline/run/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pipeline/run/text_table.hpp"

namespace workbench {

std::size_t LayoutOutcome::bytes() const {
    std::size_t sum = 0;
    for (const Array& array : footprint) sum += array.bytes;
    return sum;
}

std::size_t LayoutOutcome::slots() const {
    std::size_t sum = 0;
    for (const Array& array : footprint) sum += array.role == ArrayRole::value ? array.count : 0;
    return sum;
}

std::string StageOutcome::label() const { return precision ? fmt::format("{} {}", id, workbench::name_of(*precision)) : id; }

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

bool RunReport::all_verified() const {
    return std::none_of(kernels.begin(), kernels.end(),
                        [](const KernelOutcome& kernel) { return kernel.status == KernelOutcome::Status::wrong; });
}

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string lengths(const RowLengths& lengths) {
    return fmt::format("{}/{}/{}", lengths.minimum, significant(lengths.mean), lengths.maximum);
}

std::string span_text(const Span& span) { return fmt::format("{} / {}", significant(span.mean), with_commas(span.maximum)); }

/// Never 100 % where one pair is missing.
std::string symmetric_share(double share) { return share < 1 ? percent(std::min(share, 0.999)) : "100 %"; }

std::string share_inside(const Metrics& metrics) {
    if (!metrics.partition || metrics.nonzeros == 0) return "-";
    return percent(static_cast<double>(metrics.partition->nonzeros_inside) / static_cast<double>(metrics.nonzeros));
}

TextTable stage_table(const RunReport& report) {
    const bool tiles = std::any_of(report.stages.begin(), report.stages.end(),
                                   [](const StageOutcome& stage) { return stage.metrics.tiles.has_value(); });
    TextTable table;
    table.left_columns = 2;
    table.header = {
        "",         "stage",           "time",           "bandwidth", "mean", "profile", "row min/mean/max", "inside",
        "edge cut", "SELL-32 padding", "warp iterations"};
    if (tiles) table.header.emplace_back("idle in tiles");
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
        const StageOutcome& stage = report.stages[i];
        const Metrics& metrics = stage.metrics;
        table.rows.push_back({std::to_string(i), stage.label(), i == 0 ? "-" : duration(stage.seconds),
                              with_commas(metrics.bandwidth), significant(metrics.mean_bandwidth), with_commas(metrics.profile),
                              lengths(metrics.row_lengths), share_inside(metrics),
                              metrics.partition ? with_commas(metrics.partition->edge_cut) : "-",
                              percent(metrics.sell32_padding), with_commas(metrics.warp_iterations)});
        if (tiles) table.rows.back().push_back(metrics.tiles ? percent(metrics.tiles->idle_lanes) : "-");
    }
    return table;
}

std::string break_even_text(const KernelOutcome& kernel) {
    if (kernel.baseline) return "baseline";
    if (!kernel.speedup) return "-";
    return kernel.break_even ? with_commas(std::llround(std::ceil(*kernel.break_even))) : "never";
}

TextTable kernel_table(const RunReport& report) {
    TextTable table;
    table.left_columns = 4;
    table.header = {"layout",  "kernel",    "backend",     "",         "time",      "spread", "GFLOP/s", "GB/s",
                    "of copy", "B/nonzero", "error/bound", "speed-up", "break-even"};
    for (const KernelOutcome& kernel : report.kernels) {
        if (!kernel.verified()) continue;
        table.rows.push_back({kernel.layout, kernel.kernel, std::string(name_of(kernel.backend)),
                              std::string(name_of(kernel.precision)), duration(kernel.timing.median),
                              percent(kernel.timing.spread), significant(kernel.gflops), significant(kernel.gbytes_per_second),
                              percent(kernel.share_of_copy), significant(kernel.bytes_per_nonzero),
                              significant(kernel.error_over_bound), kernel.speedup ? significant(*kernel.speedup) + " x" : "-",
                              break_even_text(kernel)});
    }
    return table;
}

std::string footprint_line(const LayoutOutcome& layout, Offset nonzeros) {
    std::string name = fmt::format("{} {}", layout.name, name_of(layout.precision));
    if (!layout.unsuitable.empty()) return fmt::format("  {}: unsuitable: {}\n", name, layout.unsuitable);
    const std::size_t padding = layout.slots() - static_cast<std::size_t>(nonzeros);
    std::string line =
        fmt::format("  {}: built in {}, {} in all, {} slots with {} of padding\n", name, duration(layout.seconds),
                    byte_count(static_cast<double>(layout.bytes())), with_commas(static_cast<long long>(layout.slots())),
                    percent(layout.slots() == 0 ? 0 : static_cast<double>(padding) / static_cast<double>(layout.slots())));
    for (const LayoutOutcome::Array& array : layout.footprint) {
        line += fmt::format("    {:<22}{:>14} x {} B{:>14}\n", array.name, with_commas(static_cast<long long>(array.count)),
                            array.count == 0 ? 0 : array.bytes / array.count, byte_count(static_cast<double>(array.bytes)));
    }
    return line;
}

std::string kernels_without_figures(const RunReport& report) {
    std::string text;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.verified()) continue;
        text += fmt::format("  {} {} {} {}: {}: {}\n", kernel.layout, kernel.kernel, name_of(kernel.backend),
                            name_of(kernel.precision),
                            kernel.status == KernelOutcome::Status::wrong ? "WRONG RESULT" : "unsuitable", kernel.reason);
    }
    return text;
}

std::string remarks(const RunReport& report) {
    std::string text;
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
    std::vector<std::pair<std::string, std::string>> caption{
        {"bandwidth", with_commas(metrics.bandwidth)},
        {"mean bandwidth", significant(metrics.mean_bandwidth)},
        {"profile", with_commas(metrics.profile)},
        {"row length min/mean/max", fmt::format("{} / {} / {}", metrics.row_lengths.minimum,
                                                significant(metrics.row_lengths.mean), metrics.row_lengths.maximum)},
        {"row length deviation", significant(metrics.row_lengths.standard_deviation)},
        {"SELL-32 padding", percent(metrics.sell32_padding)},
        {"warp iterations", with_commas(metrics.warp_iterations)},
        {"warp work", with_commas(metrics.warp_work)},
    };
    const Locality& locality = metrics.locality;
    caption.emplace_back("row length skew", significant(metrics.row_lengths.skew));
    caption.emplace_back("row span mean/max", span_text(locality.row_span));
    caption.emplace_back("column span mean/max", span_text(locality.column_span));
    for (const CacheLines& lines : locality.x_lines) {
        caption.emplace_back(fmt::format("x lines of {} B, B/nonzero", lines.line_bytes),
                             fmt::format("{} / {}", significant(lines.per_row_block), significant(lines.bytes_per_nonzero)));
    }
    caption.emplace_back("neighbour runs/length", fmt::format("{} / {}", with_commas(locality.neighbour_runs.count),
                                                              significant(locality.neighbour_runs.mean_length)));
    caption.emplace_back("symmetry pattern/values", locality.symmetry
                                                        ? fmt::format("{} / {}", symmetric_share(locality.symmetry->pattern),
                                                                      symmetric_share(locality.symmetry->values))
                                                        : "-");
    if (metrics.partition) {
        caption.emplace_back("partitions", with_commas(metrics.partition->count));
        caption.emplace_back("nonzeros inside", share_inside(metrics));
        caption.emplace_back("edge cut", with_commas(metrics.partition->edge_cut));
        caption.emplace_back("imbalance rows/nonzeros", fmt::format("{:.3f} / {:.3f}", metrics.partition->row_imbalance,
                                                                    metrics.partition->nonzero_imbalance));
    }
    if (metrics.tiles) {
        caption.emplace_back("tiles", with_commas(metrics.tiles->count));
        caption.emplace_back("idle lanes in tiles", percent(metrics.tiles->idle_lanes));
    }
    return caption;
}

std::vector<std::pair<std::string, std::string>> legend_of_metrics() {
    return {
        {"bandwidth, mean bandwidth", "largest and mean distance of a nonzero from the diagonal, |row - column|"},
        {"profile", "sum over the rows of row - first column, where that is positive"},
        {"row length", "nonzeros in a row"},
        {"SELL-32 padding", "share of sliced ELL's slots, 32 rows a slice, that would hold no nonzero"},
        {"warp iterations", "sum over blocks of 32 rows of their longest row"},
        {"warp work", "sum over the rows of 2 length - 1"},
        {"row length skew", "mean of ((length - mean) / deviation)^3; above 0: a few long rows"},
        {"row span, column span", "from the first nonzero to the last, both included; empty rows and columns left out"},
        {"x lines of N B, B/nonzero",
         "distinct lines of x that 32 consecutive rows read, on average; and their bytes over all nonzeros"},
        {"neighbour runs/length", "runs of consecutive columns in a row, and their mean length"},
        {"symmetry pattern/values", "share of nonzeros off the diagonal whose mirror image is stored; is stored and equal"},
    };
}

std::string to_text(const RunReport& report) {
    std::string text = fmt::format("{}\n", report.recipe_name);
    if (!report.recipe_source.empty()) text += fmt::format("  {}\n", report.recipe_source);
    text += fmt::format("  {}: {} x {}, {} nonzeros, read in {}\n", report.matrix.source, with_commas(report.matrix.rows),
                        with_commas(report.matrix.columns), with_commas(report.matrix.nonzeros),
                        duration(report.matrix.read_seconds));
    if (!report.stages.empty()) text += "\nStages\n" + stage_table(report).text();
    for (const StageOutcome& stage : report.stages) {
        for (const auto& [name, value] : stage.notes) text += fmt::format("  {}: {}: {}\n", stage.label(), name, value);
    }
    if (!report.layouts.empty()) text += "\nLayout\n";
    for (const LayoutOutcome& layout : report.layouts) text += footprint_line(layout, report.matrix.nonzeros);
    if (!report.kernels.empty() || report.failures.empty()) {
        text += fmt::format("\nKernels ({} cache)\n", report.cache == CacheState::cold ? "cold" : "warm") +
                kernel_table(report).text();
    }
    text += kernels_without_figures(report);
    if (const std::string more = remarks(report); !more.empty()) text += '\n' + more;
    return text;
}

}  // namespace workbench
