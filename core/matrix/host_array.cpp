#include "core/matrix/host_array.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>

#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

using Range = HostRange<std::size_t>;

constexpr std::size_t piece = std::size_t{1} << 15;

/// Returns true inside a parallel loop and, before Kokkos 4, on threads other than the one that initialized Kokkos.
bool must_not_start_loops() {
#if KOKKOS_VERSION < 40000
    return HostSpace::in_parallel();
#else
    return omp_get_level() > 0;
#endif
}

/// Returns true if one thread finishes the work before others would have started, or if this thread must not start a loop.
bool is_for_one_thread(std::size_t count) { return count < 4 * piece || in_trial_process() || must_not_start_loops(); }

}  // namespace

void for_pieces(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
    if (is_for_one_thread(count)) {
        work(0, count);
        return;
    }
    Kokkos::parallel_for("for_pieces", Range(0, (count + piece - 1) / piece),
                         [&](std::size_t i) { work(i * piece, std::min((i + 1) * piece, count)); });
}

void sum_up(std::span<Offset> counts) {
    if (is_for_one_thread(counts.size())) {
        std::partial_sum(counts.begin(), counts.end(), counts.begin());
        return;
    }
    Kokkos::parallel_scan("sum_up", Range(0, counts.size()), [&](std::size_t i, Offset& sum, bool last) {
        sum += counts[i];
        if (last) counts[i] = sum;
    });
}

}  // namespace workbench
