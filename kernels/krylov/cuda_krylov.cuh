// Krylov solvers on a GPU.
#pragma once

#include <memory>

#include "core/contract/solvers.hpp"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// See make_krylov of core/contract/solvers.hpp.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<KrylovByProducts<Value>> make_cuda_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                                        std::span<const Value> inverse_diagonal,
                                                                        CudaDevice& device);

/// See make_several_krylov.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<SeveralKrylov<Value>> make_cuda_several_krylov(const SeveralPlan<Value>& plan,
                                                                             CudaDevice& device);

/// See make_persistent_solver.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_cuda_persistent_solver(const PersistentProblem<Value>& problem,
                                                                                   CudaDevice& device);

}  // namespace workbench
