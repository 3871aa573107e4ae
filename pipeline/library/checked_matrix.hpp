// A caller's matrix as the pipeline has it.
#pragma once

#include <spmv_workbench/spmv_workbench.hpp>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Copies the matrix, the columns of each row in ascending order. Throws InputError where sizes do not fit together, offsets
/// descend, a column is out of range or stands in a row twice; MachineError where there is no memory for the copy.
template <ValueType Value>
[[nodiscard]] CsrMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view);

}  // namespace workbench
