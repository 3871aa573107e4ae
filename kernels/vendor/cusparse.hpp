// cuSPARSE's kernels for every layout that can convert its matrix to a format of cuSPARSE.
#pragma once

#include <string>

#include "kernels/vendor/module.hpp"

namespace workbench {

/// Throws Unsuitable if cuSPARSE is missing or the matrix has no nonzeros: some formats of cuSPARSE refuse such a matrix, and
/// its time would be meaningless. Call it before converting a matrix.
void require_cusparse(Offset nonzeros);

/// Throws Unsuitable if `count` things do not fit 32 bits: cuSPARSE is fastest with 32-bit indices, and 64-bit offsets with
/// 32-bit indices are not documented.
void require_32_bits(Offset count, const std::string& things);

/// Prepares cusparseSpMV, or for several vectors cusparseSpMM. The kernel owns the arrays and reports their bytes as its own.
/// Throws Unsuitable or MachineError.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> prepare_cusparse(CusparseMatrix matrix, Device& device, int vectors = 1);

}  // namespace workbench
