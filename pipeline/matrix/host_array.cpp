#include "pipeline/matrix/host_array.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "pipeline/matrix/host_threads.hpp"

namespace workbench {
namespace {

using Range = HostRange<std::size_t>;

constexpr std::size_t piece = std::size_t{1} << 15;

/// Returns true if one thread finishes the work before others would have started, or if a parallel loop already runs.
bool is_for_one_thread(std::size_t count) { return count < 4 * piece || Kokkos::DefaultHostExecutionSpace::in_parallel(); }

}  // namespace

void advise_huge_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    if (bytes < huge_page) return;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto first = (address + huge_page - 1) / huge_page * huge_page;
    const auto last = (address + bytes) / huge_page * huge_page;
    if (first < last) (void)madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

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
