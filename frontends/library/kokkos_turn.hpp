// Lets independent threads share Kokkos.
#pragma once

#include <memory>
#include <mutex>

#include "core/system/kokkos_runtime.hpp"

namespace workbench {

/// Initialises Kokkos on the first call and keeps it running until the library is unloaded; null if the calling program
/// initialised it. Throws UserError if a variable of the environment is wrong (check_thread_variables), and MachineError if the
/// calling program's Kokkos has no threads.
[[nodiscard]] std::shared_ptr<const KokkosRuntime> running_kokkos();

/// True inside a parallel region of OpenMP, where Kokkos loops run on the calling thread only.
[[nodiscard]] bool in_parallel_region();

/// A lock for running Kokkos loops on all cores; other threads' turns wait for it. Does nothing in a parallel region, and
/// during another turn of this thread, as in a function of the caller that a solve calls. A child of fork() can take turns,
/// too, unless the fork happened during the turn of another thread: then MachineError.
class KokkosTurn {
public:
    KokkosTurn();
    ~KokkosTurn();
    KokkosTurn(const KokkosTurn&) = delete;
    KokkosTurn& operator=(const KokkosTurn&) = delete;

private:
    std::unique_lock<std::mutex> lock_;
    bool lent_ = false;
    bool was_dynamic_ = false;  // whether OpenMP may start fewer threads than Kokkos counts on
};

}  // namespace workbench
