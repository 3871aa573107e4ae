// A recipe over ranks, from the rows of each to figures: products, and a solve.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/distributed/rank_product.hpp"
#include "pipeline/distributed/rank_report.hpp"

namespace workbench {

struct SolveAcross {
    SolveOptions options;  // cg
    /// Of the input's row, on any rank.
    std::function<double(Index)> right_hand_side;
};

/// Called by all ranks, with their rows. Fills what is the same on all ranks, and all ranks' facts: `own` has what this one
/// knows of its own so far. Throws RanksFailed, or another error where this rank cannot go on and the others do not know.
template <ValueType Value>
void run_across(const RanksPlan& plan, RankRows rows, RankFacts own, const std::optional<SolveAcross>& solve, int samples,
                RanksReport& report);

}  // namespace workbench
