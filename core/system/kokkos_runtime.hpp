// Kokkos, started and stopped, and the number of its threads.
#pragma once

#include <sched.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace workbench {

/// Throws UserError with exit code 2, variable and value if OMP_NUM_THREADS or a variable of Kokkos is not a whole number in
/// its range. Starts nothing: for processes whose child processes compute. KokkosRuntime checks the variables, too.
void check_thread_variables();

/// The processors that the CPU quotas of this process's control groups amount to, rounded up; none: no quota. `root`: "/", or
/// a folder that stands for it.
[[nodiscard]] std::optional<int> processors_of_quota(const std::filesystem::path& root);

/// The processors of all places of OpenMP. If OMP_PROC_BIND asks for it, OpenMP binds the first thread of a program to its
/// first place, often one processor, before main begins, and a program that this thread starts would have that processor alone.
class ProcessorsOfPlaces {
public:
    ProcessorsOfPlaces();
    /// Lets the calling thread, and what it starts, run on them. Nothing changes without places. Async-signal-safe.
    void use() const;

private:
    cpu_set_t processors_;  // empty: OpenMP binds no thread
};

/// The threads of one of several processes that share the processors of a machine, of which this process may use `usable` (at
/// least 1). At least 1.
[[nodiscard]] int share_of_threads(int usable, int processors, int processes);

/// Kokkos runs between construction and destruction. At most one exists. It has the number of threads that KOKKOS_NUM_THREADS
/// or else OpenMP (OMP_NUM_THREADS) requests, but at least one, and no more than the processors that this process may use. If
/// neither is set, the processes of one program on this machine share its processors.
class KokkosRuntime {
public:
    /// `note` receives a line if a variable requests more threads than run. Throws what check_thread_variables throws.
    explicit KokkosRuntime(const std::function<void(const std::string&)>& note = {}, int processes_on_machine = 1);
    ~KokkosRuntime();
    KokkosRuntime(const KokkosRuntime&) = delete;
    KokkosRuntime& operator=(const KokkosRuntime&) = delete;
};

}  // namespace workbench
