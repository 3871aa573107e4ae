// The product of some rows in jagged diagonals with x on a core of the host, for the Kokkos kernels of all layouts made of
// them.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/common/storage/jagged.hpp"

namespace workbench {

/// Calls store(place, sum) for the places [first, first + jagged_chunk) of a group, as far as it has them, rows without entries
/// included. x begins at the column that the group's columns are relative to.
template <ValueType Value, typename ColumnIndex, typename Store>
void multiply_jagged(const Jagged<Value, ColumnIndex>& jagged, Index group, Offset first, const Value* x, const Store& store) {
    std::array<Value, jagged_chunk> sums{};
    for (Offset diagonal = jagged.group_diagonals[group]; diagonal < jagged.group_diagonals[group + 1]; ++diagonal) {
        const Offset rows = std::min<Offset>(jagged_chunk, jagged.diagonal_size(diagonal) - first);
        if (rows <= 0) break;
        const Value* values = jagged.values.data() + jagged.diagonal_offsets[diagonal] + first;
        const ColumnIndex* columns = jagged.columns.data() + jagged.diagonal_offsets[diagonal] + first;
        for (Offset i = 0; i < rows; ++i) sums[i] += values[i] * x[columns[i]];
    }
    const Offset rows = std::min<Offset>(jagged_chunk, jagged.group_size(group) - first);
    for (Offset i = 0; i < rows; ++i) store(first + i, sums[i]);
}

}  // namespace workbench
