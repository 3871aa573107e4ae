// The blocks of a matrix that hold nonzeros, block row by block row, for builders of layouts that store whole blocks.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "core/matrix/types.hpp"

namespace workbench {

inline constexpr Index largest_block = 32;  // a row of a block is read by lanes of one warp

/// A view of a matrix in CSR with ascending columns.
template <typename Value>
struct CsrOnHost {
    Index rows = 0;
    Index columns = 0;
    std::span<const Offset> row_offsets;
    std::span<const Index> column_indices;
    std::span<const Value> values;
};

/// Rows and columns of a block; at most largest_block rows.
struct BlockSize {
    Index height = 1;
    Index width = 1;
};

/// The number of blocks of `size` rows or columns that cover `count`.
[[nodiscard]] constexpr Index block_count_of(Index count, Index size) { return count / size + (count % size > 0 ? 1 : 0); }

/// Calls visit_block(block column) for every block of a block row that holds a nonzero, from left to right, and after each
/// visit_entry(row of the block, position in the matrix) for its nonzeros.
template <typename Value, typename VisitBlock, typename VisitEntry>
void walk_block_row(const CsrOnHost<Value>& matrix, const BlockSize& size, Index block_row, const VisitBlock& visit_block,
                    const VisitEntry& visit_entry) {
    if (size.height == 1 && size.width == 1) {
        for (Offset i = matrix.row_offsets[block_row]; i < matrix.row_offsets[block_row + 1]; ++i) {
            visit_block(matrix.column_indices[i]);
            visit_entry(0, i);
        }
        return;
    }
    const Index first_row = block_row * size.height;
    const Index height = std::min(size.height, matrix.rows - first_row);
    std::array<Offset, largest_block> next{};
    for (Index r = 0; r < height; ++r) next[r] = matrix.row_offsets[first_row + r];
    constexpr Index none = std::numeric_limits<Index>::max();
    for (;;) {
        Index leftmost = none;
        for (Index r = 0; r < height; ++r) {
            if (next[r] < matrix.row_offsets[first_row + r + 1]) leftmost = std::min(leftmost, matrix.column_indices[next[r]]);
        }
        if (leftmost == none) return;
        const Index block_column = leftmost / size.width;
        visit_block(block_column);
        const Offset end_column = (Offset{block_column} + 1) * size.width;
        for (Index r = 0; r < height; ++r) {
            const Offset end = matrix.row_offsets[first_row + r + 1];
            for (; next[r] < end && matrix.column_indices[next[r]] < end_column; ++next[r]) visit_entry(r, next[r]);
        }
    }
}

}  // namespace workbench
