// Refusals of values beyond a precision.
#pragma once

#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Throws Unsuitable, with their count and the largest magnitude, if values that are finite in f64 are not finite in Value.
template <ValueType Value>
void require_values_in_range(const CsrMatrix& matrix);

}  // namespace workbench
