#include "stages/cuthill_mckee_order.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "pipeline/matrix/host_threads.hpp"

namespace workbench {
namespace {

/// A thread has consecutive places of a level in every loop over it, and so what it wrote in the loop before.
using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// Vertices whose neighbours are put into a queue together.
constexpr Index chunk = 64;

/// Is a level of so many vertices to be handled by all threads?
bool is_for_threads(const Graph& graph, Index vertices, Offset least_for_threads) {
    return Offset{vertices} * graph.offsets.back() >= least_for_threads * graph.vertex_count() && host_threads() > 1;
}

/// The lists of vertices that are next to each other in an order lie anywhere in memory: asks for those that come up soon.
void prefetch(const Graph& graph, const std::vector<Index>& order, Index place, Index end) {
    constexpr Index soon = 4;
    constexpr Index later = 10;
    if (place + later < end) __builtin_prefetch(graph.offsets.data() + order[place + later]);
    if (place + soon >= end) return;
    const Index* const list = graph.neighbours.data() + graph.offsets[order[place + soon]];
    __builtin_prefetch(list);
    __builtin_prefetch(list + 16);  // the next line
}

template <typename Number>
Number relaxed(Number& number) {
    return std::atomic_ref<Number>(number).load(std::memory_order_relaxed);
}

/// Breadth-first searches, which only need to know the vertices of the last level.
class Searcher {
public:
    Searcher(const Graph& graph, Offset least_for_threads)
        : graph_(graph),
          least_for_threads_(least_for_threads),
          seen_in_(graph.vertex_count(), 0),
          queue_(graph.vertex_count()) {}

    Index pseudo_peripheral(Index start) {
        Index depth = search(start);
        // The distance grows with every turn, as a rule two or three times; the bound keeps odd graphs linear too.
        for (int turn = 0; turn < 16; ++turn) {
            const Index candidate = least_degree_in_last_level();
            const Index candidate_depth = search(candidate);
            if (candidate_depth <= depth) break;
            start = candidate;
            depth = candidate_depth;
        }
        return start;
    }

private:
    /// Leaves the component of a vertex in queue_, level by level, in a level in any order. Returns the number of levels.
    Index search(Index start) {
        ++search_number_;
        seen_in_[start] = search_number_;
        queue_[0] = start;
        size_ = 1;
        Index levels = 0;
        for (Index end = 0; end < size_; ++levels) {
            level_begin_ = end;
            end = size_;
            if (is_for_threads(graph_, end - level_begin_, least_for_threads_)) {
                visit_neighbours_by_all(level_begin_, end);
                continue;
            }
            for (Index i = level_begin_; i < end; ++i) {
                prefetch(graph_, queue_, i, end);
                visit_neighbours(queue_[i]);
            }
        }
        level_end_ = size_;
        return levels;
    }

    void visit_neighbours(Index vertex) {
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            if (seen_in_[neighbour] == search_number_) continue;
            seen_in_[neighbour] = search_number_;
            queue_[size_++] = neighbour;
        }
    }

    void visit_neighbours_by_all(Index begin, Index end) {
        Kokkos::parallel_for("visit_neighbours", Range(0, (end - begin + chunk - 1) / chunk), [&](Index i) {
            std::array<Index, 512> found{};
            std::size_t count = 0;
            const auto put_in_queue = [&] {
                const Index at = Kokkos::atomic_fetch_add(&size_, static_cast<Index>(count));
                std::copy_n(found.begin(), count, queue_.begin() + at);
                count = 0;
            };
            const Index last = std::min(begin + (i + 1) * chunk, end);
            for (Index place = begin + i * chunk; place < last; ++place) {
                prefetch(graph_, queue_, place, last);
                for (const Index neighbour : graph_.neighbours_of(queue_[place])) {
                    std::atomic_ref<std::uint32_t> seen(seen_in_[neighbour]);
                    if (seen.load(std::memory_order_relaxed) == search_number_) continue;
                    if (seen.exchange(search_number_, std::memory_order_relaxed) == search_number_) continue;
                    found[count++] = neighbour;
                    if (count == found.size()) put_in_queue();
                }
            }
            put_in_queue();
        });
    }

    [[nodiscard]] Index least_degree_in_last_level() const {
        return *std::min_element(queue_.begin() + level_begin_, queue_.begin() + level_end_, [this](Index a, Index b) {
            return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b);
        });
    }

    const Graph& graph_;
    Offset least_for_threads_;
    std::vector<std::uint32_t> seen_in_;  // [vertices] the last search that saw it, 0: none
    std::uint32_t search_number_ = 0;
    std::vector<Index> queue_;  // the first size_
    Index size_ = 0;
    Index level_begin_ = 0;  // of the last level, in queue_
    Index level_end_ = 0;
};

/// Numbers components, one after another.
class Orderer {
public:
    Orderer(const Graph& graph, Offset least_for_threads)
        : graph_(graph),
          least_for_threads_(least_for_threads),
          order_(graph.vertex_count()),
          parent_(graph.vertex_count(), nobody),
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
                place_neighbours_by_all(begin, end);
            } else {
                for (Index i = begin; i < end; ++i) {
                    prefetch(graph_, order_, i, end);
                    place_neighbours(order_[i]);
                }
            }
            begin = end;
        }
    }

    std::vector<Index> order() && { return std::move(order_); }

private:
    static constexpr Index nobody = std::numeric_limits<Index>::max();
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

    /// The places begin .. end - 1 are a level: their neighbours get the places after them.
    void place_neighbours_by_all(Index begin, Index end) {
        const Range level(begin, end);
        Kokkos::parallel_for("find_parents", level, [&](Index parent) {
            prefetch(graph_, order_, parent, end);
            for (const Index neighbour : graph_.neighbours_of(order_[parent])) {
                // Most have a place already, or a parent that comes before.
                if (relaxed(parent_[neighbour]) > parent) Kokkos::atomic_fetch_min(&parent_[neighbour], parent);
            }
        });
        Index listed = 0;
        Kokkos::parallel_for("list_children", level, [&](Index parent) {
            prefetch(graph_, order_, parent, end);
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
    std::vector<Index> order_;  // the first size_: vertices by place
    Index size_ = 0;
    std::vector<Index> parent_;  // of each vertex, the place of its first neighbour that has one; or placed, or nobody
    // Of a level, while it is handled:
    std::vector<Index> children_;        // together for each parent, parents in any order
    std::vector<Index> first_child_;     // by place of the parent, into children_
    std::vector<Index> place_of_first_;  // by place of the parent
};

}  // namespace

CuthillMcKeeOrder cuthill_mckee_order(const Graph& graph, SearchStart start, Offset least_for_threads) {
    Searcher searcher(graph, least_for_threads);
    Orderer orderer(graph, least_for_threads);
    CuthillMcKeeOrder result;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (orderer.has_placed(vertex)) continue;
        ++result.components;
        const bool look = start == SearchStart::rim && graph.degree(vertex) > 0;
        orderer.number_from(look ? searcher.pseudo_peripheral(vertex) : vertex);
    }
    result.old_of_new = std::move(orderer).order();
    return result;
}

}  // namespace workbench
