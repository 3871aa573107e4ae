// Kokkos, started and stopped.
#pragma once

namespace workbench {

/// Kokkos runs between construction and destruction; OMP_NUM_THREADS sets its threads. At most one exists.
class KokkosRuntime {
public:
    KokkosRuntime();
    ~KokkosRuntime();
    KokkosRuntime(const KokkosRuntime&) = delete;
    KokkosRuntime& operator=(const KokkosRuntime&) = delete;
};

}  // namespace workbench
