// How many threads a parallel loop on the host has.
#pragma once

#include <Kokkos_Core.hpp>

namespace workbench {

inline int host_threads() {
    // NOLINTNEXTLINE(readability-static-accessed-through-instance): static in Kokkos 3 alone
    return Kokkos::DefaultHostExecutionSpace().concurrency();
}

}  // namespace workbench
