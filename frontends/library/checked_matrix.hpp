// Copies and checks a caller's matrix.
#pragma once

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Copies the matrix and sorts the columns of each row. Throws InputError if sizes disagree, offsets decrease, or a row has a
/// column out of range or twice; MachineError if there is too little memory for the copy.
template <ValueType Value>
[[nodiscard]] CsrMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view);

/// [nonzeros] The number in the view of each entry of checked_matrix(view), which sorts them; empty if they were sorted.
template <ValueType Value>
[[nodiscard]] HostArray<Offset> entry_order(const spmv_workbench::CsrView<Value>& view, const CsrMatrix& checked);

}  // namespace workbench
