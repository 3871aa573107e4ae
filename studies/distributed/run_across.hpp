// Runs a recipe over ranks: verifies and times its product, and optionally solves with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/distributed/rank_product.hpp"
#include "studies/distributed/rank_report.hpp"

namespace workbench {

struct SolveAcross {
    SolveOptions options;                          // method: cg
    std::function<double(Index)> right_hand_side;  // b by row of the input; callable for any row on any rank
};

/// Collective; each rank passes its rows, and its facts so far in `own`. Fills everything but matrix, partitioning, versions
/// and the solve's right_hand_side. Throws RanksFailed on all ranks, or another error if only this rank fails.
template <ValueType Value>
[[nodiscard]] RanksReport run_across(const RanksPlan& plan, RankRows rows, RankFacts own,
                                     const std::optional<SolveAcross>& solve, int samples);

}  // namespace workbench
