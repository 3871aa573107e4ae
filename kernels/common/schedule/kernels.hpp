// The kernels of a format as entries. Its entry (format.hpp) names the CUDA kernels, and its cuda.cu compiles them: it
// instantiates CudaRows or CudaLoop for each. A kernel that the entry names and cuda.cu lacks is an error of the linker.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/contract/layout.hpp"

namespace workbench {

/// The CUDA kernel of a schedule, or of a choice of them (entry/device_rows.cuh).
template <template <typename> typename LayoutOf, typename S>
struct CudaRows {
    static KernelEntry entry(std::string name, std::string summary);
};

/// The CUDA kernel KernelOf, as loop_kernel makes it (entry/cuda_loop.cuh).
template <template <typename> typename LayoutOf, template <typename> typename KernelOf>
struct CudaLoop {
    static KernelEntry entry(std::string name, std::string summary);
};

/// A kernel that can be prepared for the rows of a share; without rows it is that of the whole layout.
[[nodiscard]] KernelEntry kernel_for_rows(Backend backend, std::string name, std::string summary,
                                          const ForEachPrecision<PrepareRows>& prepare);

}  // namespace workbench
