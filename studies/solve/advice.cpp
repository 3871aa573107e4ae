#include "studies/solve/advice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace workbench {
namespace {

double seconds_of(const SolveOutcome& one, double solves) { return one.once_seconds() + solves * one.each_seconds(); }

/// The end of the axis of time_by_solves, a power of 10.
double shown_solves(long long last_crossing) {
    double solves = 1000;
    while (solves < 10 * static_cast<double>(last_crossing)) solves *= 10;
    return solves;
}

std::vector<const SolveOutcome*> advisable(const SolveReport& report) {
    std::vector<const SolveOutcome*> solved;
    for (const SolveOutcome& one : report.outcomes) {
        if (one.solved() && !one.tuned && !one.control) solved.push_back(&one);
    }
    return solved;
}

}  // namespace

std::vector<Advised> advice_of(const SolveReport& report, bool new_values) {
    const std::vector<const SolveOutcome*> solved = advisable(report);
    const SolveOutcome* baseline = report.baseline();
    if (solved.size() < 2 || (baseline != nullptr && !baseline->noise().empty())) return {};
    const auto seconds = [new_values](const SolveOutcome* one) { return one->once_seconds() + one->each_seconds(new_values); };
    const auto takes_less = [&](const SolveOutcome* a, const SolveOutcome* b) { return seconds(a) < seconds(b); };
    std::vector<Advised> found{{*std::min_element(solved.begin(), solved.end(), takes_less), 1}};
    for (std::optional<Advised> next; true; next.reset()) {
        for (const SolveOutcome* one : solved) {
            const auto solves =
                one == found.back().outcome ? std::nullopt : break_even_solves(*one, *found.back().outcome, new_values);
            if (!solves) continue;
            const long long from = std::max(found.back().from + 1, std::llround(std::ceil(*solves)));
            if (!next || from < next->from ||
                (from == next->from && one->each_seconds(new_values) < next->outcome->each_seconds(new_values))) {
                next = {one, from};
            }
        }
        if (!next) return found;
        found.push_back(*next);
    }
}

std::optional<Advised> less_within_noise(const SolveReport& report, const Advised& last, bool new_values) {
    const SolveOutcome* least = last.outcome;
    for (const SolveOutcome* one : advisable(report)) {
        if (one->each_seconds(new_values) < least->each_seconds(new_values)) least = one;
    }
    if (least == last.outcome) return std::nullopt;
    const double gain = last.outcome->each_seconds(new_values) - least->each_seconds(new_values);
    const double from = std::floor((least->once_seconds() - last.outcome->once_seconds()) / gain) + 1;
    if (from > shown_solves(last.from)) return std::nullopt;
    return Advised{least, std::max(last.from, std::llround(from))};
}

XyChart time_by_solves(const SolveReport& report) {
    XyChart chart{.title = "Time in all by number of solves",
                  .subtitle = subtitle_of(report),
                  .x = {"solves with this matrix", true},
                  .y = {"seconds", true},
                  .series = {}};
    const std::vector<Advised> advised = advice_of(report);
    const long decades = std::lround(std::log10(shown_solves(advised.empty() ? 1 : advised.back().from)));
    std::size_t left_out = 0;
    for (const SolveOutcome& one : report.outcomes) {
        if (!one.solved() || one.tuned) continue;
        if (chart.series.size() + 1 == most_series) {
            ++left_out;
            continue;
        }
        Series series{.name = report.label_of(one), .points = {}, .drawn = Drawn::curves};
        constexpr int steps = 20;  // in a decade
        for (int i = 0; i <= steps * decades; ++i) {
            const double solves = std::pow(10.0, static_cast<double>(i) / steps);
            series.points.emplace_back(solves, seconds_of(one, solves));
        }
        chart.series.push_back(std::move(series));
    }
    Series crossings{.name = "another recipe takes less", .points = {}};
    for (std::size_t i = 1; i < advised.size(); ++i) {
        const auto from = static_cast<double>(advised[i].from);
        crossings.points.emplace_back(from, seconds_of(*advised[i].outcome, from));
    }
    if (!crossings.points.empty()) chart.series.push_back(std::move(crossings));
    if (left_out > 0) chart.foot = fmt::format("without the last {} recipes", left_out);
    return chart;
}

}  // namespace workbench
