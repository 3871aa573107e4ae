#include "stages/boost_order.hpp"

#include <boost/graph/cuthill_mckee_ordering.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "stages/boost_graph.hpp"

namespace workbench {
namespace {

/// Finds a pseudo-peripheral start vertex in each connected component. Unlike find_starting_node of Boost it visits only one
/// component per search, which is important for matrices with many isolated vertices.
class StartFinder {
public:
    explicit StartFinder(const Graph& graph) : graph_(graph), seen_in_(graph.vertex_count(), 0) {}

    /// The start vertices, in the order of the first vertices of the components.
    std::deque<Index> find_all() {
        std::deque<Index> starts;
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
            if (seen_in_[vertex] == 0) starts.push_back(pseudo_peripheral(vertex));
        }
        return starts;
    }

private:
    Index pseudo_peripheral(Index start) {
        Index depth = search(start);
        // The same bound as in LevelSearch.
        for (int turn = 0; turn < 16; ++turn) {
            const Index candidate = least_degree_in_last_level();
            const Index candidate_depth = search(candidate);
            if (candidate_depth <= depth) break;
            start = candidate;
            depth = candidate_depth;
        }
        return start;
    }

    /// Searches the component of a vertex. Returns the number of levels.
    Index search(Index start) {
        ++search_number_;
        queue_.assign(1, start);
        seen_in_[start] = search_number_;
        Index levels = 0;
        for (std::size_t level_end = 0; level_end < queue_.size(); ++levels) {
            last_level_ = level_end;
            level_end = queue_.size();
            for (std::size_t i = last_level_; i < level_end; ++i) visit_neighbours(queue_[i]);
        }
        return levels;
    }

    void visit_neighbours(Index vertex) {
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            if (seen_in_[neighbour] == search_number_) continue;
            seen_in_[neighbour] = search_number_;
            queue_.push_back(neighbour);
        }
    }

    [[nodiscard]] Index least_degree_in_last_level() const {
        return *std::min_element(
            queue_.begin() + static_cast<std::ptrdiff_t>(last_level_), queue_.end(),
            [this](Index a, Index b) { return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b); });
    }

    const Graph& graph_;
    std::vector<std::uint32_t> seen_in_;  // [vertices] the last search that reached it; 0: none
    std::uint32_t search_number_ = 0;
    std::vector<Index> queue_;
    std::size_t last_level_ = 0;  // its begin in queue_
};

}  // namespace

std::vector<Index> boost_order(const Graph& graph) {
    const std::deque<Index> starts = StartFinder(graph).find_all();
    // Boost sorts the neighbours of a vertex by this number; sorting by the degree alone would leave the order of ties
    // unspecified.
    std::vector<std::int64_t> rank(graph.vertex_count());
    for (Index v = 0; v < graph.vertex_count(); ++v) rank[v] = (std::int64_t{graph.degree(v)} << 32) + v;
    std::vector<boost::default_color_type> colors(graph.vertex_count());
    std::vector<Index> order(graph.vertex_count());
    boost::cuthill_mckee_ordering(BoostGraph{graph}, starts, order.begin(), property_of_vertices(colors),
                                  property_of_vertices(rank));
    return order;
}

}  // namespace workbench
