// Orders of a matrix that come one after the other, and move its entries once.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// The entries of a matrix whose orders they have yet to follow: orders that come one after the other move them once.
struct EntriesBehind {
    CsrMatrix matrix;  // as it was before these orders
    Permutation rows;  // all that have come since, as one
    Permutation columns;
};

/// The same change, but an order moves no entries: `staged.matrix` keeps its sizes and row offsets, which are those after the
/// order, and is without columns and values until catch_up; nothing that asks for them may be done before. `behind`: none, or
/// what earlier changes of this matrix left there. Throws as `apply` does.
void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps, std::optional<EntriesBehind>& behind);

/// Lets the entries follow, if they are behind. What it leaves is what `apply` would have left without waiting, bit for bit.
void catch_up(StagedMatrix& staged, std::optional<EntriesBehind>& behind);

}  // namespace workbench
