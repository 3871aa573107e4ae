// Krylov solvers on a GPU.
#pragma once

#include <memory>

#include "kernels/device/cuda_device.cuh"
#include "pipeline/contract/krylov.hpp"

namespace workbench {

/// See Device::make_krylov.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Krylov<Value>> make_cuda_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                              std::span<const Value> inverse_diagonal, CudaDevice& device);

}  // namespace workbench
