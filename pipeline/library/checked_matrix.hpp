// Copies and checks a caller's matrix.
#pragma once

#include <spmv_workbench/spmv_workbench.hpp>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Copies the matrix and sorts the columns of each row. Throws InputError if sizes disagree, offsets decrease, or a row has a
/// column out of range or twice; MachineError if there is too little memory for the copy.
template <ValueType Value>
[[nodiscard]] CsrMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view);

}  // namespace workbench
