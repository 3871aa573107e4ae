#include "studies/solve/turns.hpp"

#include <algorithm>

namespace workbench {
namespace {

constexpr double most_seconds = 1;  // of all repetitions of a solve, with whatever else it does
constexpr std::size_t most_solves = 11;

double lower_median(std::vector<double> samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
}

}  // namespace

void RepeatableSolve::begin() { outcomes.push_back(solve(options)); }

bool RepeatableSolve::is_short() const {
    const double seconds = outcomes.front().solve_seconds;
    const SolveOutcome& first = outcomes.front();
    return first.preparation.kernel.verified() && first.solved() && seconds > 0 && seconds < most_seconds / fewest_for_interval;
}

void repeat_in_turns(const std::vector<RepeatableSolve*>& solves, const Clock& clock) {
    const Stopwatch watch(clock);
    const double limit = most_seconds * static_cast<double>(solves.size());
    for (std::size_t round = 1; round < most_solves && watch.seconds() < limit; ++round) {
        for (std::size_t i = 0; i < solves.size(); ++i) {
            RepeatableSolve& one = *solves[(round + i) % solves.size()];
            SolveOptions options = one.options;
            options.timing.minimum_samples = 0;
            one.outcomes.push_back(one.solve(options));
            one.outcomes.back().x = {};
        }
    }
}

SolveOutcome summary_of(const RepeatableSolve& repeated) {
    std::vector<double> seconds;
    std::vector<double> of_vectors;
    for (const SolveOutcome& one : repeated.outcomes) {
        seconds.push_back(one.solve_seconds);
        of_vectors.push_back(one.vector_seconds);
    }
    SolveOutcome outcome = repeated.outcomes.front();  // whose x is kept
    outcome.solve_seconds = lower_median(seconds);
    outcome.solve_samples = std::move(seconds);
    outcome.vector_seconds = lower_median(std::move(of_vectors));
    return outcome;
}

}  // namespace workbench
