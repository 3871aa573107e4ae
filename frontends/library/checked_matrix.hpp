// Copies and checks a caller's matrix.
#pragma once

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

struct GivenMatrix {
    CsrMatrix matrix;
    HostArray<Offset> entry_order;  // [nonzeros] the number of each entry in the caller's arrays; empty: the same
};

/// Copies the matrix, sorts the columns of each row, and adds the other half of a symmetric matrix. Throws InputError if sizes
/// disagree, offsets decrease, a row has a column out of range or twice, or `triangle` does not allow the pattern; MachineError
/// if there is too little memory for the copy.
template <ValueType Value>
[[nodiscard]] GivenMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view, spmv_workbench::Triangle triangle);

}  // namespace workbench
