// The seam between the program and libworkbench_cusparse.so. cuSPARSE is large and often absent, so that only the module is
// linked with it, and the module is opened when a cuSPARSE kernel is asked for (kernels/csr/cusparse.cpp).
#pragma once

#include <memory>

#include "kernels/csr/layout.hpp"

namespace workbench {

/// The formats of cusparseSpMV; each is made from CSR when a kernel is prepared.
enum class CusparseFormat { csr_alg1, csr_alg2, coo, sell, bsr };

/// `stream` is the cudaStream_t of the device. Throws Unsuitable, or MachineError.
template <typename Value>
using PrepareCusparse = std::unique_ptr<Kernel<Value>> (*)(CusparseFormat format, const CsrLayout<Value>& matrix,
                                                           Device& device, void* stream);

/// All that the module offers, behind one function without arguments named by cusparse_module_function.
struct CusparseModule {
    ForEachPrecision<PrepareCusparse> prepare;
};

using GetCusparseModule = const CusparseModule* (*)();
inline constexpr const char* cusparse_module_function = "workbench_cusparse_module";
inline constexpr const char* cusparse_module_file = "libworkbench_cusparse.so";

}  // namespace workbench
