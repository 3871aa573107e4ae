#include "stages/cuthill_mckee_order.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <utility>

#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

/// Numbers the components one by one.
class Orderer {
public:
    Orderer(const Graph& graph, Offset least_for_threads)
        : graph_(graph),
          least_for_threads_(least_for_threads),
          order_(graph.vertex_count()),
          parent_(graph.vertex_count(), unreached),
          children_(graph.vertex_count()),
          first_child_(graph.vertex_count()),
          place_of_first_(graph.vertex_count() + std::size_t{1}) {}

    [[nodiscard]] bool has_placed(Index vertex) const { return parent_[vertex] == placed; }

    void number_from(Index start) {
        Index begin = size_;
        place(start);
        while (begin < size_) {
            const Index end = size_;
            if (is_for_threads(graph_, end - begin, least_for_threads_)) {
                place_neighbours_by_all_threads(begin, end);
            } else {
                for (Index i = begin; i < end; ++i) {
                    prefetch_lists(graph_, order_, i, end);
                    place_neighbours(order_[i]);
                }
            }
            begin = end;
        }
    }

    std::vector<Index> order() && { return std::move(order_); }

private:
    static constexpr Index unreached = std::numeric_limits<Index>::max();
    static constexpr Index placed = -1;

    void place(Index vertex) {
        parent_[vertex] = placed;
        order_[size_++] = vertex;
    }

    void sort(std::span<Index> vertices) const {
        std::sort(vertices.begin(), vertices.end(),
                  [this](Index a, Index b) { return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b); });
    }

    void place_neighbours(Index vertex) {
        const Index begin = size_;
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            if (parent_[neighbour] != placed) place(neighbour);
        }
        sort({order_.data() + begin, static_cast<std::size_t>(size_ - begin)});
    }

    /// Places the neighbours of a level, which has the places begin .. end - 1.
    void place_neighbours_by_all_threads(Index begin, Index end) {
        // Each thread processes the same places in all three loops, and finds in its cache what it wrote in the previous one.
        const HostRange<> level(begin, end);
        Kokkos::parallel_for("find_parents", level, [&](Index parent) {
            prefetch_lists(graph_, order_, parent, end);
            for (const Index neighbour : graph_.neighbours_of(order_[parent])) {
                // Most neighbours have a place, or a parent with a smaller place.
                if (std::atomic_ref(parent_[neighbour]).load(std::memory_order_relaxed) > parent) {
                    Kokkos::atomic_fetch_min(&parent_[neighbour], parent);
                }
            }
        });
        Index listed = 0;
        Kokkos::parallel_for("list_children", level, [&](Index parent) {
            prefetch_lists(graph_, order_, parent, end);
            const auto neighbours = graph_.neighbours_of(order_[parent]);
            const auto is_child = [&](Index neighbour) { return parent_[neighbour] == parent; };
            const auto count = static_cast<Index>(std::count_if(neighbours.begin(), neighbours.end(), is_child));
            const Index first = count == 0 ? 0 : Kokkos::atomic_fetch_add(&listed, count);
            const auto last = std::copy_if(neighbours.begin(), neighbours.end(), children_.begin() + first, is_child);
            sort({children_.begin() + first, last});
            first_child_[parent] = first;
            place_of_first_[parent + 1] = count;
        });
        place_of_first_[begin] = end;
        for (Index parent = begin; parent < end; ++parent) place_of_first_[parent + 1] += place_of_first_[parent];
        Kokkos::parallel_for("place_children", level, [&](Index parent) {
            const Index count = place_of_first_[parent + 1] - place_of_first_[parent];
            for (Index i = 0; i < count; ++i) {
                const Index child = children_[first_child_[parent] + i];
                order_[place_of_first_[parent] + i] = child;
                parent_[child] = placed;
            }
        });
        size_ = place_of_first_[end];
    }

    const Graph& graph_;
    Offset least_for_threads_;
    std::vector<Index> order_;  // [vertices] the first size_ are the vertices that have a place
    Index size_ = 0;
    std::vector<Index> parent_;  // [vertices] the place of the first neighbour that has one; or placed, or unreached
    // While a level is processed:
    std::vector<Index> children_;        // grouped by parent; the parents are in any order
    std::vector<Index> first_child_;     // [places] of each parent, in children_
    std::vector<Index> place_of_first_;  // [places] the place of the first child of each parent
};

}  // namespace

CuthillMcKeeOrder cuthill_mckee_order(const Graph& graph, SearchStart start, Offset least_for_threads) {
    LevelSearch search(graph, least_for_threads);
    Orderer orderer(graph, least_for_threads);
    CuthillMcKeeOrder result;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (orderer.has_placed(vertex)) continue;
        ++result.components;
        const bool searches = start == SearchStart::pseudo_peripheral && graph.degree(vertex) > 0;
        orderer.number_from(searches ? search.pseudo_peripheral(vertex) : vertex);
    }
    result.old_of_new = std::move(orderer).order();
    return result;
}

}  // namespace workbench
