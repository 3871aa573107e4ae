// Matrices for the GPU tests beyond the battery: large enough to fill a GPU, generated in code.
#pragma once

#include <functional>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Up to `most_per_row` nonzeros per row near the diagonal and a few far from it; every 701st row has 3000 more, every 97th is
/// empty.
[[nodiscard]] CsrMatrix uneven_matrix(Index rows, Index columns, Index most_per_row);

/// Rows of these lengths, at most `columns`.
[[nodiscard]] CsrMatrix matrix_of_rows(const std::vector<Index>& lengths, Index columns);

/// Rows of the lengths at which kernels change their method, up to 20,000, between short and many empty rows.
[[nodiscard]] CsrMatrix long_rows_matrix();

/// A band in each diagonal block between the boundaries: no nonzero is outside the partition.
[[nodiscard]] CsrMatrix block_diagonal_matrix(const std::vector<Index>& boundaries);

/// A + A^T of a square matrix.
[[nodiscard]] CsrMatrix sum_with_transpose(const CsrMatrix& matrix);

/// `count` pieces of equal size, except for a piece of one row and an empty one at the front if `rows` suffices.
[[nodiscard]] std::vector<Index> uneven_boundaries(Index rows, Index count);

/// The k-th nonzero has value_of(k).
[[nodiscard]] CsrMatrix with_values(CsrMatrix matrix, const std::function<double(std::size_t)>& value_of);

}  // namespace workbench
