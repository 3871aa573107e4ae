// The places of a matrix's nonzeros, by which layouts that store whole blocks or diagonals distinguish nonzeros from padding.
#pragma once

#include <vector>

#include "core/contract/transfer.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// A matrix without its values. No kernel reads it, and it does not count in the footprint.
struct Pattern {
    HostArray<Offset> row_offsets{0};  // [rows + 1]
    HostArray<Index> columns;          // [nonzeros]

    Pattern() = default;
    explicit Pattern(const CsrMatrix& matrix) : row_offsets(matrix.row_offsets), columns(matrix.column_indices) {}

    void transfer(Transfer& all) { all(row_offsets, columns); }
};

/// Finds the nonzeros of a layout whose slots, in the order of memory, ascend by column in every row.
class PatternWalk {
public:
    explicit PatternWalk(const Pattern& pattern)
        : pattern_(pattern), next_(pattern.row_offsets.begin(), pattern.row_offsets.end() - 1) {}

    /// The nonzero at a place of the matrix, as a position in CsrMatrix::values; -1 if there is none, or if row or column is
    /// -1.
    [[nodiscard]] Offset nonzero_at(Index row, Index column) {
        if (row < 0 || column < 0) return -1;
        Offset& next = next_[row];
        const bool found = next < pattern_.row_offsets[row + 1] && pattern_.columns[next] == column;
        return found ? next++ : -1;
    }

private:
    const Pattern& pattern_;
    HostArray<Offset> next_;  // [rows] the first nonzero of each row that was not found yet
};

}  // namespace workbench
