// Breadth-first search by levels: the start and end vertices of orders that advance through a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// The number of edge ends of a level below which one thread processes it: waking 16 cores takes about 100 us, in which one
/// thread follows 20,000 edges. Levels of two-dimensional meshes have about as many.
inline constexpr Offset least_ends_for_threads = 65536;

/// Returns true if all threads process a level of `vertices` vertices, whose degrees are assumed to be the mean.
[[nodiscard]] bool is_for_threads(const Graph& graph, Index vertices, Offset least_for_threads);

/// Prefetches the adjacency lists of the vertices that follow `place` in a list, because they are scattered in memory.
inline void prefetch_lists(const Graph& graph, const std::vector<Index>& list, Index place, Index end) {
    constexpr Index soon = 4;
    constexpr Index later = 10;
    if (place + later < end) __builtin_prefetch(graph.offsets.data() + list[place + later]);
    if (place + soon >= end) return;
    const Index* const neighbours = graph.neighbours.data() + graph.offsets[list[place + soon]];
    __builtin_prefetch(neighbours);
    __builtin_prefetch(neighbours + 16);  // the next cache line
}

/// Breadth-first searches of single components, so that many small components cost no more than one large one. Levels of
/// least_for_threads edge ends or more are processed by all threads. The graph must outlive this.
class LevelSearch {
public:
    explicit LevelSearch(const Graph& graph, Offset least_for_threads = least_ends_for_threads)
        : graph_(graph),
          least_for_threads_(least_for_threads),
          seen_in_(graph.vertex_count(), 0),
          queue_(graph.vertex_count()) {}

    /// Searches the component of a vertex. Returns the number of levels.
    Index from(Index start);

    /// The vertices of a level of the last search, in any order.
    [[nodiscard]] std::span<const Index> level(Index number) const {
        return std::span(queue_).subspan(begins_[number], begins_[number + 1] - begins_[number]);
    }
    /// The vertex of least degree in the last level of the last search; of equal vertices the first.
    [[nodiscard]] Index farthest() const;

    /// Returns true if any search has reached the vertex.
    [[nodiscard]] bool seen(Index vertex) const { return seen_in_[vertex] != 0; }

    /// A pseudo-peripheral vertex (George, Liu 1979): repeatedly moves on to the farthest vertex while the number of levels
    /// grows.
    Index pseudo_peripheral(Index start);

private:
    void visit_neighbours_of_level(Index begin, Index end);
    void visit_neighbours_by_all_threads(Index begin, Index end);

    const Graph& graph_;
    Offset least_for_threads_;
    std::vector<std::uint32_t> seen_in_;  // [vertices] the number of the last search that reached it; 0: none
    std::uint32_t search_number_ = 0;
    std::vector<Index> queue_;   // [vertices] the first size_ are the component, level by level
    std::vector<Index> begins_;  // [levels + 1] of each level in queue_
    Index size_ = 0;
};

}  // namespace workbench
