#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "pipeline/report/figures.hpp"

namespace workbench {
namespace {

using Outcome = KernelOutcome;

std::string interval_text(const Interval& interval, std::string (*text)(double)) {
    return fmt::format(" ({} to {})", text(interval.low), text(interval.high));
}

FigureValue speedup_text(const Outcome& kernel) {
    if (!kernel.speedup) return {};
    const std::string number = factor(*kernel.speedup);
    const std::optional<Verdict> verdict = kernel.verdict();
    if (!verdict) return number;
    if (*verdict == Verdict::too_few_samples) return "too few samples";
    if (*verdict == Verdict::busy_machine) return "busy machine";
    return (*verdict == Verdict::within_noise ? "within noise" : number) + interval_text(*kernel.speedup_interval, significant);
}

std::string whole(double number) { return with_commas(std::llround(std::ceil(number))); }

FigureValue break_even_text(const Outcome& kernel) {
    if (kernel.baseline) return "baseline";
    if (kernel.verdict() == Verdict::slower) return "never";
    return kernel.break_even ? whole(*kernel.break_even) + interval_text(*kernel.break_even_interval, whole) : "-";
}

FigureValue verdict_text(const Outcome& kernel) {
    const std::optional<Verdict> verdict = kernel.verdict();
    if (!verdict) return {};
    constexpr std::array texts{"faster", "slower", "within noise", "too few samples", "busy machine"};
    return std::string(texts.at(static_cast<std::size_t>(*verdict)));
}

Figures<Outcome> time_figures() {
    return {
        {.key = "error_over_bound", .value = at(&Outcome::error_over_bound), .table = {.label = "error/bound", .place = 70}},
        {.key = "prepare_seconds", .unit = "s", .value = at(&Outcome::prepare_seconds)},
        {.key = "vector_permutation_seconds", .unit = "s", .value = at(&Outcome::vector_permutation_seconds)},
        {.key = "setup_seconds", .unit = "s", .value = at(&Outcome::setup_seconds), .table = {.label = "set-up", .place = 82}},
        {.key = "first_seconds", .unit = "s", .value = at(&Outcome::first_seconds), .table = {.label = "first", .place = 84}},
        {.key = "new_values_seconds",
         .unit = "s",
         .value = at(&Outcome::new_values_seconds),
         .table = {.label = "new values", .place = 86}},
        {.key = "median_seconds",
         .unit = "s",
         .value = at(&Outcome::timing, &Timing::median),
         .table = {.label = "time", .place = 10}},
        {.key = "spread",
         .value = at(&Outcome::timing, &Timing::spread),
         .table = {.label = "spread", .place = 20, .text = spread}},
        {.key = "interruptions", .value = at(&Outcome::timing, &Timing::interruptions)},
        {.key = "samples", .value = at(&Outcome::timing, &Timing::samples)}};
}

Figures<Outcome> rate_figures() {
    return {{.key = "bytes_to_move", .unit = "bytes", .value = at(&Outcome::bytes_to_move)},
            {.key = "bytes_per_nonzero",
             .unit = "bytes",
             .value = at(&Outcome::bytes_per_nonzero),
             .table = {.label = "B/nonzero", .place = 60}},
            {.key = "gflops", .unit = "10^9/s", .value = at(&Outcome::gflops), .table = {.label = "GFLOP/s", .place = 30}},
            {.key = "gbytes_per_second",
             .unit = "10^9 bytes/s",
             .value = at(&Outcome::gbytes_per_second),
             .table = {.label = "GB/s", .place = 40}},
            {.key = "share_of_copy_bandwidth",
             .unit = "share",
             .value = at(&Outcome::share_of_copy),
             .table = {.label = "of copy", .place = 50}},
            {.key = "share_of_read_bandwidth", .unit = "share", .value = at(&Outcome::share_of_read)}};
}

Figures<Outcome> comparison_figures() {
    return {{.key = "speedup", .value = at(&Outcome::speedup)},
            {.value = speedup_text, .table = {.label = "speed-up", .place = 80}},
            {.key = "speedup_interval", .value = at(&Outcome::speedup_interval)},
            {.key = "verdict", .value = verdict_text},
            {.key = "break_even", .value = at(&Outcome::break_even)},
            {.key = "break_even_interval", .value = at(&Outcome::break_even_interval)},
            {.value = break_even_text, .table = {.label = "break-even", .place = 90}}};
}

}  // namespace

const Figures<KernelOutcome>& kernel_figures() {
    static const Figures<Outcome> all = joined({time_figures(), rate_figures(), comparison_figures()});
    return all;
}

}  // namespace workbench
