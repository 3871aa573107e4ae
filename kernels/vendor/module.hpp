// The interface between the program and libworkbench_cusparse.so. cuSPARSE is large and often absent, so only this module is
// linked with it, and the module is opened for the first cuSPARSE kernel (kernels/vendor/cusparse.cpp).
#pragma once

#include <memory>
#include <string>

#include "core/contract/kernel.hpp"

namespace workbench {

/// The formats of cusparseSpMV with their algorithms. csr_op: CSR for cusparseSpMVOp. For several vectors, CSR and coordinates
/// have algorithms of cusparseSpMM.
enum class CusparseFormat { csr_alg1, csr_alg2, csr_op, coo, sell, bsr };

/// A matrix in a format of cuSPARSE: arrays on the device, with 32-bit zero-based indices.
struct CusparseMatrix {
    CusparseFormat format = CusparseFormat::csr_alg1;
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    Index size = 0;               // rows of a slice (sell) or of a block (bsr)
    DeviceMemory offsets;         // of rows, slices or block rows; for a coordinate list, the row indices
    DeviceMemory column_indices;  // one per value, or per block (bsr); -1 in padding (sell)
    DeviceMemory values;          // blocks row-major (bsr)
};

/// `stream` is the cudaStream_t of the device. vectors: as in PrepareVectors, or 1. Throws Unsuitable, or MachineError.
template <typename Value>
using PrepareCusparse = std::unique_ptr<Kernel<Value>> (*)(CusparseMatrix matrix, int vectors, Device& device, void* stream);

/// The module's functions; the exported function cusparse_module_function, without arguments, returns them.
struct CusparseModule {
    ForEachPrecision<PrepareCusparse> prepare;
    std::string (*version)();  // "12.6.3"
};

using GetCusparseModule = const CusparseModule* (*)();
inline constexpr const char* cusparse_module_function = "workbench_cusparse_module";
inline constexpr const char* cusparse_module_file = "libworkbench_cusparse.so";

}  // namespace workbench
