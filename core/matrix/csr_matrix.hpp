// The matrix that flows through the pipeline: compressed sparse rows in f64.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "core/matrix/host_array.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

class Permutation;

/// A sparse matrix in compressed sparse rows. The columns of a row ascend strictly, so equal matrices have equal arrays. A
/// stored zero is an entry like any other: "nonzero" means "stored entry" throughout.
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

/// Builds a matrix from a coordinate list in any order. Duplicates are summed in the order of the list.
/// Throws std::out_of_range where an entry lies outside rows x columns.
[[nodiscard]] CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const Entry> entries);

/// The mirror images that a list of one triangle of a square matrix implies: none, a_ji = a_ij, or a_ji = -a_ij.
enum class Mirror { nothing, same, negated };

/// Like above, for a list in pieces where each entry is followed by its mirror image. Besides the list and the matrix it needs
/// four bytes per nonzero, and for each thread the entries of one block of rows.
[[nodiscard]] CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const std::span<const Entry>> pieces,
                                         Mirror mirror);

[[nodiscard]] CsrMatrix transpose(const CsrMatrix& matrix);

/// The entries in the first rows and columns.
[[nodiscard]] CsrMatrix leading_part(const CsrMatrix& matrix, Index rows, Index columns);

/// P A Q^T: row i of the result is row row_order.old_of_new(i) of the matrix, and likewise for columns. Values are only moved,
/// so the result is exact. Throws std::invalid_argument where the sizes of the orders do not match the matrix.
[[nodiscard]] CsrMatrix permute(const CsrMatrix& matrix, const Permutation& row_order, const Permutation& column_order);

/// The row offsets of P A Q^T from those of A. [rows + 1]
[[nodiscard]] HostArray<Offset> permuted_offsets(std::span<const Offset> row_offsets, const Permutation& row_order);

/// Throws std::logic_error with the first invariant of CsrMatrix that is violated: sizes, ascending offsets, ascending columns.
void check_csr(const CsrMatrix& matrix);

}  // namespace workbench
