// Krylov solvers on the host, through Kokkos.
#pragma once

#include <memory>

#include "core/contract/device.hpp"
#include "core/contract/krylov.hpp"

namespace workbench {

/// See make_krylov of core/contract/solvers.hpp.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<KrylovByProducts<Value>> make_host_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                                        std::span<const Value> inverse_diagonal, Device& host);

/// See make_several_krylov.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<SeveralKrylov<Value>> make_host_several_krylov(const SeveralPlan<Value>& plan, Device& host);

}  // namespace workbench
