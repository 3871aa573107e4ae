// Solves on a GPU in one kernel that stays there for all iterations of a launch.
#pragma once

#include <memory>

#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// See Device::make_persistent_solver.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_cuda_persistent_solver(const PersistentProblem& problem,
                                                                                   CudaDevice& device);

}  // namespace workbench
