// The machine the program runs on.
#pragma once

#include <map>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Operating system, processor, memory, threads. `host` is the host as a device.
[[nodiscard]] std::map<std::string, std::string> describe_machine(const DeviceProperties& host);

/// Kokkos runs between construction and destruction; OMP_NUM_THREADS sets its threads. At most one exists.
class KokkosRuntime {
public:
    KokkosRuntime();
    ~KokkosRuntime();
    KokkosRuntime(const KokkosRuntime&) = delete;
    KokkosRuntime& operator=(const KokkosRuntime&) = delete;
};

}  // namespace workbench
