#include "studies/choose/rank_choice.hpp"

#include <algorithm>

#include "pipeline/recipe/control.hpp"

namespace workbench {
namespace {

double speedup_of(const Timed& one) { return one.record.speedup.value_or(0); }

/// Stricter than a tie, where the intervals need only touch.
bool are_equally_fast(const Timed& a, const Timed& b) {
    const auto contains = [](const Interval& interval, double value) {
        return interval.low <= value && value <= interval.high;
    };
    return contains(*a.record.interval, speedup_of(b)) && contains(*b.record.interval, speedup_of(a));
}

bool pays_earlier(const Timed& one, const Timed* other, const Timed* fastest) {
    if (is_control(one.recipe) || !one.faster() || !are_equally_fast(one, *fastest)) return false;
    return other == nullptr || one.record.break_even < other->record.break_even;
}

bool saves_more(const Timed& one, const Timed* other, double products, double solves) {
    if (is_control(one.recipe)) return false;
    const std::optional<double> saved = one.saved_seconds(products, solves);
    return saved && *saved > (other == nullptr ? 0 : *other->saved_seconds(products, solves));
}

}  // namespace

bool are_tied(const Timed& a, const Timed& b) {
    return a.record.interval && b.record.interval && a.record.interval->low <= b.record.interval->high &&
           b.record.interval->low <= a.record.interval->high;
}

bool is_undecided(const Timed& one) {
    constexpr double worthwhile = 1.1;
    const std::optional<Interval>& interval = one.record.interval;
    if (!interval) return one.record.verdict == "busy machine";
    return one.record.verdict == "within noise" && interval->high >= worthwhile;
}

const Timed* fastest_of(const Choice& choice) {
    const auto faster = [](const Timed& a, const Timed& b) { return a.record.seconds < b.record.seconds; };
    const auto found = std::min_element(choice.ranking.begin(), choice.ranking.end(), faster);
    return found == choice.ranking.end() ? nullptr : &*found;
}

void rank_choice(Choice& choice, const ChooseOptions& options) {
    std::vector<Timed>& ranking = choice.ranking;
    std::stable_partition(ranking.begin(), ranking.end(), [](const Timed& one) { return one.is_baseline; });
    choice.stay = true;
    const Timed* fastest = nullptr;
    for (const Timed& one : ranking) {
        if (is_control(one.recipe)) continue;
        if (one.faster() && (fastest == nullptr || speedup_of(one) > speedup_of(*fastest))) fastest = &one;
    }
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < ranking.size(); ++i) {
        const Timed* const other = choice.stay ? nullptr : &ranking[chosen];
        if (!(options.products ? saves_more(ranking[i], other, *options.products, options.solves)
                               : pays_earlier(ranking[i], other, fastest))) {
            continue;
        }
        chosen = i;
        choice.stay = false;
    }
    std::rotate(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(chosen),
                ranking.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
    std::stable_sort(ranking.begin() + 1, ranking.end(),
                     [](const Timed& a, const Timed& b) { return speedup_of(a) > speedup_of(b); });
    for (Timed& one : ranking) one.tied = &one != &ranking.front() && are_tied(one, ranking.front());
}

}  // namespace workbench
