// Krylov solvers on the host, through Kokkos.
#pragma once

#include <memory>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/krylov.hpp"

namespace workbench {

/// See Device::make_krylov.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Krylov<Value>> make_host_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                              std::span<const Value> inverse_diagonal, Device& host);

}  // namespace workbench
