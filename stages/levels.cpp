#include "stages/levels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "core/matrix/host_threads.hpp"

namespace workbench {

bool is_for_threads(const Graph& graph, Index vertices, Offset least_for_threads) {
    return Offset{vertices} * graph.offsets.back() >= least_for_threads * graph.vertex_count() && host_threads() > 1;
}

Index LevelSearch::from(Index start) {
    ++search_number_;
    seen_in_[start] = search_number_;
    queue_[0] = start;
    size_ = 1;
    begins_.assign(1, 0);
    while (begins_.back() < size_) {
        const Index begin = begins_.back();
        begins_.push_back(size_);
        if (is_for_threads(graph_, size_ - begin, least_for_threads_)) {
            visit_neighbours_by_all_threads(begin, size_);
        } else {
            visit_neighbours_of_level(begin, size_);
        }
    }
    return static_cast<Index>(begins_.size()) - 1;
}

void LevelSearch::visit_neighbours_of_level(Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
        prefetch_lists(graph_, queue_, i, end);
        for (const Index neighbour : graph_.neighbours_of(queue_[i])) {
            if (seen_in_[neighbour] == search_number_) continue;
            seen_in_[neighbour] = search_number_;
            queue_[size_++] = neighbour;
        }
    }
}

void LevelSearch::visit_neighbours_by_all_threads(Index begin, Index end) {
    constexpr Index chunk = 64;  // vertices whose neighbours are appended to the queue together
    Kokkos::parallel_for("visit_neighbours", HostRange<>(0, (end - begin + chunk - 1) / chunk), [&](Index i) {
        std::array<Index, 512> found{};
        std::size_t count = 0;
        const auto append_to_queue = [&] {
            const Index at = Kokkos::atomic_fetch_add(&size_, static_cast<Index>(count));
            std::copy_n(found.begin(), count, queue_.begin() + at);
            count = 0;
        };
        const Index last = std::min(begin + (i + 1) * chunk, end);
        for (Index place = begin + i * chunk; place < last; ++place) {
            prefetch_lists(graph_, queue_, place, last);
            for (const Index neighbour : graph_.neighbours_of(queue_[place])) {
                std::atomic_ref<std::uint32_t> seen(seen_in_[neighbour]);
                if (seen.load(std::memory_order_relaxed) == search_number_) continue;
                if (seen.exchange(search_number_, std::memory_order_relaxed) == search_number_) continue;
                found[count++] = neighbour;
                if (count == found.size()) append_to_queue();
            }
        }
        append_to_queue();
    });
}

Index LevelSearch::farthest() const {
    const std::span<const Index> last = level(static_cast<Index>(begins_.size()) - 2);
    return *std::min_element(last.begin(), last.end(), [this](Index a, Index b) {
        return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b);
    });
}

Index LevelSearch::pseudo_peripheral(Index start) {
    Index levels = from(start);
    // The number of levels rarely grows more than three times; the bound keeps the search linear for every graph.
    for (int turn = 0; turn < 16; ++turn) {
        const Index candidate = farthest();
        const Index candidate_levels = from(candidate);
        if (candidate_levels <= levels) break;
        start = candidate;
        levels = candidate_levels;
    }
    return start;
}

}  // namespace workbench
