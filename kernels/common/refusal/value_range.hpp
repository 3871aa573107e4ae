// Whether a matrix fits a precision.
#pragma once

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Throws Unsuitable where values that are finite in f64 are not in Value, with their count and the largest magnitude.
template <ValueType Value>
void require_values_in_range(const CsrMatrix& matrix);

}  // namespace workbench
