// Included by the cuda.cu of a format that instantiates CudaLoop (entry/kernels.hpp).
#pragma once

#include "kernels/common/entry/loop_kernel.hpp"

namespace workbench {

template <template <typename> typename LayoutOf, template <typename> typename KernelOf>
KernelEntry CudaLoop<LayoutOf, KernelOf>::entry(std::string name, std::string summary) {
    return loop_kernel<LayoutOf, KernelOf>(Backend::cuda, std::move(name), std::move(summary));
}

}  // namespace workbench
