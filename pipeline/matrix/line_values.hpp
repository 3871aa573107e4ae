// Whether the values of a matrix are equal in each row, or in each column, as in A = D B and A = B D with a pattern B: the
// transition matrix of a random walk has 1 / degree throughout a row or a column.
#pragma once

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

enum class Line { row, column };

/// True if the values of each row, or of each column, are equal as numbers of type Value, bit for bit. Ends at the first that
/// differs.
template <typename Value>
[[nodiscard]] bool have_equal_values(const CsrMatrix& matrix, Line line);

}  // namespace workbench
