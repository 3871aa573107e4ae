// Short solves are repeated in turns, so that a disturbance of the machine affects all alike.
#pragma once

#include <functional>
#include <vector>

#include "studies/solve/solve.hpp"

namespace workbench {

/// A solve that can be repeated.
struct RepeatableSolve {
    std::function<SolveOutcome(const SolveOptions&)> solve;
    SolveOptions options;
    std::vector<SolveOutcome> outcomes = {};  // x of the first one alone

    /// Solves for the first time. Products outside the solve are timed here alone.
    void begin();
    /// True if the first solve converged and is so short that enough repetitions for an interval fit in a second.
    [[nodiscard]] bool is_short() const;
};

/// Repeats solves that are short in rounds of one solve each, up to 11 solves of each, for about a second each.
void repeat_in_turns(const std::vector<RepeatableSolve*>& solves, const Clock& clock);

/// The first solve, whose x is kept, with the median times and the samples of all. There is at least one.
[[nodiscard]] SolveOutcome summary_of(const RepeatableSolve& repeated);

}  // namespace workbench
