// The clock of the benchmarks.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

#include "core/matrix/host_threads.hpp"

namespace workbench {

[[nodiscard]] inline double now_on(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that the work takes on this clock.
template <typename Work>
double seconds_of(clockid_t clock, const Work& work) {
    const double start = now_on(clock);
    work();
    return now_on(clock) - start;
}

/// The least of several runs: processor time with one thread, which other programs disturb less, wall time otherwise.
template <typename Work>
double least_seconds_of(int repetitions, const Work& work) {
    const clockid_t clock = host_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions; ++i) least = std::min(least, seconds_of(clock, work));
    return least;
}

}  // namespace workbench
