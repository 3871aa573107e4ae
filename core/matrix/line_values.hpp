// Tells whether the values of a matrix are equal in each row, or in each column. The transition matrix of a random walk is an
// example: each of its rows, or each of its columns, has the value 1 / degree throughout.
#pragma once

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

enum class Line { row, column };

/// True if the values of each row, or of each column, are equal as numbers of type Value, bit for bit. Ends at the first that
/// differs.
template <typename Value>
[[nodiscard]] bool have_equal_values(const CsrMatrix& matrix, Line line);

}  // namespace workbench
