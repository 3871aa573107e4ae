// Delayed permutation: consecutive orders of a matrix are composed, and its entries are moved once.
#pragma once

#include <optional>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// A matrix before the orders that its entries have not followed yet, and the composition of those orders.
struct EntriesBehind {
    CsrMatrix matrix;
    Permutation rows;
    Permutation columns;
};

/// Applies a change, but an order moves no entries: `staged.matrix` has the row offsets after the order, and no columns or
/// values until catch_up is called. `behind` is empty, or holds the result of earlier calls for this matrix. Throws like the
/// other `apply`.
void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps, std::optional<EntriesBehind>& behind);

/// Moves the entries, if they are behind. The matrix is then bit-identical to what immediate permutation would have made.
void catch_up(StagedMatrix& staged, std::optional<EntriesBehind>& behind);

}  // namespace workbench
