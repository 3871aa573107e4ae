// Breadth-first search, level by level: where orders that advance through a graph begin and end.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// Searches one component at a time, so that many small ones cost no more than one large one.
class LevelSearch {
public:
    /// The graph must outlive this.
    explicit LevelSearch(const Graph& graph)
        : graph_(graph), seen_in_(graph.vertex_count(), 0), level_(graph.vertex_count(), 0) {}

    /// Breadth-first from a vertex. Returns the number of levels.
    Index from(Index start);

    /// What the last search found: its component's vertices, level by level, and the level of each.
    [[nodiscard]] const std::vector<Index>& found() const { return queue_; }
    [[nodiscard]] Index level(Index vertex) const { return level_[vertex]; }
    /// The last level's vertex of least degree, of equal ones the first.
    [[nodiscard]] Index farthest() const;

    [[nodiscard]] bool seen(Index vertex) const { return seen_in_[vertex] != 0; }

    /// A vertex at the rim of a component, after George and Liu: from any of its vertices to the farthest of least degree, and
    /// on from there while the distance grows. The last search is the one from the vertex that is returned.
    Index pseudo_peripheral(Index start);

private:
    const Graph& graph_;
    std::vector<std::uint32_t> seen_in_;  // [vertices] the last search that saw it; 0: none
    std::vector<Index> level_;            // [vertices]
    std::uint32_t search_number_ = 0;
    std::vector<Index> queue_;
    std::size_t last_level_ = 0;  // where it begins in queue_
};

}  // namespace workbench
