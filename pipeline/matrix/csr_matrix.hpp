// The matrix as it flows through the pipeline: compressed sparse rows, in f64.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

class Permutation;

/// A sparse matrix in compressed sparse rows. The columns of a row ascend strictly: there are no duplicates, so that two
/// equal matrices have equal arrays. A stored zero is an entry like any other ("nonzero" below means "stored entry").
struct CsrMatrix {
    Index rows = 0;
    Index columns = 0;
    HostArray<Offset> row_offsets{0};  // [rows + 1]
    HostArray<Index> column_indices;   // [nonzeros]
    HostArray<double> values;          // [nonzeros]

    [[nodiscard]] Offset nonzeros() const { return row_offsets.back(); }
    [[nodiscard]] bool square() const { return rows == columns; }
    [[nodiscard]] Offset row_length(Index row) const { return row_offsets[row + 1] - row_offsets[row]; }
    [[nodiscard]] std::span<const Index> row_columns(Index row) const {
        return {column_indices.data() + row_offsets[row], static_cast<std::size_t>(row_length(row))};
    }

    friend bool operator==(const CsrMatrix&, const CsrMatrix&) = default;
};

/// One entry of a coordinate list.
struct Entry {
    Index row = 0;
    Index column = 0;
    double value = 0;
};

/// Builds the matrix of a coordinate list in any order; entries at the same place are summed in the order of the list.
/// Throws std::out_of_range where an entry lies outside rows x columns.
[[nodiscard]] CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const Entry> entries);

/// What an entry off the diagonal stands for besides itself, in a list that gives one triangle of a square matrix.
enum class Mirror { nothing, same, negated };

/// The same of a list in pieces, each entry followed by its mirror image. Beyond list and matrix it takes four bytes a nonzero,
/// and for each thread a copy of some rows.
[[nodiscard]] CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const std::span<const Entry>> pieces,
                                         Mirror mirror);

/// The transpose. Its columns ascend in each row, as everywhere.
[[nodiscard]] CsrMatrix transpose(const CsrMatrix& matrix);

/// P A Q^T: row i of the result is row row_order.old_of_new(i) of the matrix, and likewise for columns.
/// Values are moved, never computed with, so the result is exact.
[[nodiscard]] CsrMatrix permute(const CsrMatrix& matrix, const Permutation& row_order, const Permutation& column_order);

/// Throws std::logic_error with the first broken promise of CsrMatrix (sizes, ascending offsets, ascending columns in range).
void check_csr(const CsrMatrix& matrix);

}  // namespace workbench
