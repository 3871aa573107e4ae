// cuSPARSE's kernels, for every layout that can hand over its matrix in a format of cuSPARSE.
#pragma once

#include <string>

#include "kernels/vendor/module.hpp"

namespace workbench {

/// Throws Unsuitable where cuSPARSE is not there, or where the matrix has no nonzeros: cuSPARSE refuses some of these and not
/// others, and a time for them would say nothing of it. To be called before a matrix is made for it.
void require_cusparse(Offset nonzeros);

/// Throws Unsuitable where `count` things do not fit 32 bits: cuSPARSE is at its best with 32-bit indices, and 64-bit ones for
/// offsets alone are not documented.
void require_32_bits(Offset count, const std::string& things);

/// Prepares cusparseSpMV. The kernel owns the arrays and states their bytes as its own. Throws Unsuitable or MachineError.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> prepare_cusparse(CusparseMatrix matrix, Device& device);

}  // namespace workbench
