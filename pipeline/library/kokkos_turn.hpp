// Kokkos, as threads that know nothing of each other may use it.
#pragma once

#include <memory>
#include <mutex>

#include "pipeline/run/kokkos_runtime.hpp"

namespace workbench {

/// Kokkos runs as long as somebody holds this, and until the library is unloaded; started by the first to ask. Null: the
/// program has started it.
[[nodiscard]] std::shared_ptr<const KokkosRuntime> running_kokkos();

/// Is this thread in a parallel region of OpenMP? There, loops of Kokkos run on this thread alone.
[[nodiscard]] bool in_parallel_region();

/// While it lives, loops of this thread run on all cores, and those of other threads that want to do so wait. In a parallel
/// region it does nothing.
class KokkosTurn {
public:
    KokkosTurn();
    ~KokkosTurn();
    KokkosTurn(const KokkosTurn&) = delete;
    KokkosTurn& operator=(const KokkosTurn&) = delete;

private:
    std::unique_lock<std::mutex> lock_;
    bool lent_ = false;
};

}  // namespace workbench
