// The places of a matrix's nonzeros, by which layouts that store whole blocks or diagonals distinguish nonzeros from padding.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "core/contract/transfer.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The rows whose offsets are equal.
[[nodiscard]] inline std::vector<Index> rows_without_nonzeros(const HostArray<Offset>& row_offsets) {
    std::vector<Index> rows;
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
        if (row_offsets[row] == row_offsets[row + 1]) rows.push_back(static_cast<Index>(row));
    }
    return rows;
}

/// A matrix without its values. No kernel reads it, and it does not count in the footprint.
struct Pattern {
    HostArray<Offset> row_offsets{0};  // [rows + 1]
    HostArray<Index> columns;          // [nonzeros]

    Pattern() = default;
    explicit Pattern(const CsrMatrix& matrix) : row_offsets(matrix.row_offsets), columns(matrix.column_indices) {}

    [[nodiscard]] std::span<const Index> columns_of(Index row) const {
        return {columns.data() + row_offsets[row], static_cast<std::size_t>(row_offsets[row + 1] - row_offsets[row])};
    }
    /// True if the matrix has an entry at this place, which may be outside of it.
    [[nodiscard]] bool has(Offset row, Offset column) const {
        return row + 1 < std::ssize(row_offsets) && std::ranges::binary_search(columns_of(static_cast<Index>(row)), column);
    }
    [[nodiscard]] std::vector<Index> rows_without_nonzeros() const { return workbench::rows_without_nonzeros(row_offsets); }

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
