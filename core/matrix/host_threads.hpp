// Parallel loops on the host: how many threads they have, and how iterations are dealt to the threads.
#pragma once

#include <Kokkos_Core.hpp>

#include "core/matrix/types.hpp"

namespace workbench {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

/// The range of a host loop whose iterations cost about the same: each thread gets one run of them, the same in every loop of
/// that length.
template <typename Number = Index>
using HostRange = Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<Number>>;

/// The range of a host loop whose iterations differ in cost: idle threads take the next ones.
template <typename Number = Index>
using UnevenHostRange = Kokkos::RangePolicy<HostSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Number>>;

inline int host_threads() {
    // NOLINTNEXTLINE(readability-static-accessed-through-instance): static in Kokkos 3 alone
    return Kokkos::DefaultHostExecutionSpace().concurrency();
}

}  // namespace workbench
