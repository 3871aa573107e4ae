// Solves on a GPU in one kernel that stays there for all iterations of a launch.
#pragma once

#include <memory>

#include "core/contract/solvers.hpp"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// See make_persistent_solver of core/contract/solvers.hpp.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_cuda_persistent_solver(const PersistentProblem<Value>& problem,
                                                                                   CudaDevice& device);

}  // namespace workbench
