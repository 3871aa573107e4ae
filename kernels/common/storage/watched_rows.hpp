// Rows in doubt of kernels that add to a row of y several times.
#pragma once

#include <vector>

#include "kernels/common/storage/rows_in_doubt.hpp"

namespace workbench {

/// Runs work(), which computes the rows [first, end) of y, and puts those in doubt that are not finite. If it accumulates, they
/// have their values from before afterwards.
template <ValueType Value>
void watch_rows(RowsInDoubt& doubt, Value* y, Offset first, Offset end, bool accumulate, const auto& work) {
    std::vector<Value> before;
    if (accumulate) before.assign(y + first, y + end);
    work();
    bool finite = true;
    for (Offset row = first; row < end; ++row) finite = finite & RowsInDoubt::is_finite(y[row]);
    for (Offset row = first; !finite && row < end; ++row) {
        if (RowsInDoubt::is_finite(y[row])) continue;
        if (accumulate) y[row] = before[row - first];
        doubt.add(static_cast<Index>(row));
    }
}

}  // namespace workbench
