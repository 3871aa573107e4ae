#include <array>
#include <cmath>

#include <fmt/format.h>

#include "pipeline/report/figures.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

using Outcome = KernelOutcome;

FigureValue known(const std::optional<double>& number) { return number ? FigureValue(*number) : FigureValue(); }

FigureValue known(const std::optional<Interval>& interval) {
    return interval ? FigureValue(std::vector<double>{interval->low, interval->high}) : FigureValue();
}

std::string interval_text(const Interval& interval, std::string (*text)(double)) {
    return fmt::format(" ({} to {})", text(interval.low), text(interval.high));
}

FigureValue speedup_text(const Outcome& kernel) {
    if (!kernel.speedup) return {};
    const std::string number = factor(*kernel.speedup);
    const std::optional<Verdict> verdict = kernel.verdict();
    if (!verdict) return number;
    if (*verdict == Verdict::too_few_samples) return "too few samples";
    return (*verdict == Verdict::within_noise ? "within noise" : number) + interval_text(*kernel.speedup_interval, significant);
}

std::string whole(double number) { return with_commas(std::llround(std::ceil(number))); }

std::string break_even_text(const Outcome& kernel) {
    if (kernel.baseline) return "baseline";
    if (kernel.verdict() == Verdict::slower) return "never";
    return kernel.break_even ? whole(*kernel.break_even) + interval_text(*kernel.break_even_interval, whole) : "-";
}

FigureValue verdict_text(const Outcome& kernel) {
    const std::optional<Verdict> verdict = kernel.verdict();
    if (!verdict) return {};
    constexpr std::array texts{"faster", "slower", "within noise", "too few samples"};
    return std::string(texts.at(static_cast<std::size_t>(*verdict)));
}

}  // namespace

const std::vector<Figure<KernelOutcome>>& kernel_figures() {
    static const std::vector<Figure<KernelOutcome>> all{
        {.key = "error_over_bound",
         .type = "number",
         .help = "largest error of a row over its bound, with the real values; at most 1 where verified; `null` if infinite",
         .value = [](const Outcome& kernel) { return kernel.error_over_bound; },
         .table = {"error/bound", rounded, 70}},
        {.key = "prepare_seconds",
         .type = "number, s",
         .help = "copies to the device and buffers, once",
         .value = [](const Outcome& kernel) { return kernel.prepare_seconds; }},
        {.key = "vector_permutation_seconds",
         .type = "number, s",
         .help = "x into the layout's order and y back, once each; 0 where nothing is permuted",
         .value = [](const Outcome& kernel) { return kernel.vector_permutation_seconds; }},
        {.key = "median_seconds",
         .type = "number, s",
         .help = "of the samples",
         .value = [](const Outcome& kernel) { return kernel.timing.median; },
         .table = {"time", seconds, 10}},
        {.key = "spread",
         .type = "number",
         .help = "(90th − 10th percentile) / median",
         .value = [](const Outcome& kernel) { return kernel.timing.spread; },
         .table = {"spread", percent, 20}},
        {.key = "interruptions",
         .type = "integer",
         .help = "how often a thread of the process lost its core to another while the samples were taken",
         .value = [](const Outcome& kernel) { return std::int64_t{kernel.timing.interruptions}; }},
        {.key = "samples",
         .type = "array",
         .help =
             "every timed product, one a round: the i-th samples of all kernels of a device and precision were taken in one "
             "round",
         .value = [](const Outcome& kernel) { return kernel.timing.samples; }},
        {.key = "bytes_to_move",
         .type = "integer, bytes",
         .help = "the least that a product moves: the matrix, x and y, once each; results of shares that are stored and added "
                 "up later, twice. The matrix is the layout's arrays, or those that a library keeps it in",
         .value = [](const Outcome& kernel) { return kernel.bytes_to_move; }},
        {.key = "bytes_per_nonzero",
         .type = "number, bytes",
         .help = "that over the nonzeros",
         .value = [](const Outcome& kernel) { return kernel.bytes_per_nonzero; },
         .table = {"B/nonzero", rounded, 60}},
        {.key = "gflops",
         .type = "number, 10^9/s",
         .help = "2 nonzeros over the median",
         .value = [](const Outcome& kernel) { return kernel.gflops; },
         .table = {"GFLOP/s", rounded, 30}},
        {.key = "gbytes_per_second",
         .type = "number, 10^9 bytes/s",
         .help = "`bytes_to_move` over the median",
         .value = [](const Outcome& kernel) { return kernel.gbytes_per_second; },
         .table = {"GB/s", rounded, 40}},
        {.key = "share_of_copy_bandwidth",
         .type = "number, share",
         .help = "of the copy bandwidth of the device in this run; above 1 where x or the matrix stays in caches",
         .value = [](const Outcome& kernel) { return kernel.share_of_copy; },
         .table = {"of copy", percent, 50}},
        {.key = "share_of_read_bandwidth",
         .type = "number, share",
         .help = "of the read bandwidth",
         .value = [](const Outcome& kernel) { return kernel.share_of_read; }},
        {.key = "speedup",
         .type = "number",
         .help = "median over the rounds of the baseline's sample over this one's; `null` where either is missing",
         .value = [](const Outcome& kernel) { return known(kernel.speedup); }},
        {.value = speedup_text, .table = {"speed-up", plain, 80}},
        {.key = "speedup_interval",
         .type = "array",
         .help = "from and to: holds that median with 95 % confidence; `null` of the baseline, and with fewer than 5 rounds",
         .value = [](const Outcome& kernel) { return known(kernel.speedup_interval); }},
        {.key = "verdict",
         .type = "text",
         .help =
             "`faster`: the interval lies above 1; `slower`: below; `within noise`: it holds 1; `too few samples`: there is "
             "none; `null` of the baseline and without a speed-up",
         .value = verdict_text},
        {.key = "break_even",
         .type = "number",
         .help = "products after which stages, building, preparing and permuting are paid for by the median gain; `null` "
                 "unless the verdict is `faster`",
         .value = [](const Outcome& kernel) { return known(kernel.break_even); }},
        {.key = "break_even_interval",
         .type = "array",
         .help = "from and to, from the interval of the gain",
         .value = [](const Outcome& kernel) { return known(kernel.break_even_interval); }},
        {.value = [](const Outcome& kernel) { return break_even_text(kernel); }, .table = {"break-even", plain, 90}},
    };
    return all;
}

}  // namespace workbench
