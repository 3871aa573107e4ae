// The seam between the program and libworkbench_cusparse.so. cuSPARSE is large and often absent, so that only the module is
// linked with it, and the module is opened when a cuSPARSE kernel is asked for (kernels/vendor/cusparse.cpp).
#pragma once

#include <memory>

#include "pipeline/contract/kernel.hpp"

namespace workbench {

/// The formats of cusparseSpMV, each with its algorithm.
enum class CusparseFormat { csr_alg1, csr_alg2, coo, sell, bsr };

/// A matrix as cuSPARSE takes it: its arrays on the device, with indices of 32 bits that begin at 0.
struct CusparseMatrix {
    CusparseFormat format = CusparseFormat::csr_alg1;
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    Index size = 0;               // rows of a slice (sell) or of a block (bsr)
    DeviceMemory offsets;         // of rows, slices or block rows; the rows of a coordinate list
    DeviceMemory column_indices;  // of a value each; of a block each (bsr); -1 in padding (sell)
    DeviceMemory values;          // the rows of a block one after the other (bsr)
};

/// `stream` is the cudaStream_t of the device. Throws Unsuitable, or MachineError.
template <typename Value>
using PrepareCusparse = std::unique_ptr<Kernel<Value>> (*)(CusparseMatrix matrix, Device& device, void* stream);

/// All that the module offers, behind one function without arguments named by cusparse_module_function.
struct CusparseModule {
    ForEachPrecision<PrepareCusparse> prepare;
};

using GetCusparseModule = const CusparseModule* (*)();
inline constexpr const char* cusparse_module_function = "workbench_cusparse_module";
inline constexpr const char* cusparse_module_file = "libworkbench_cusparse.so";

}  // namespace workbench
