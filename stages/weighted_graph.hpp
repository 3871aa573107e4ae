// Graphs with weights, which multilevel partitioning coarsens, and tools for parallel loops over their vertices.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/types.hpp"
#include "stages/graph.hpp"

namespace workbench {

/// One end of an undirected edge.
struct WeightedEdge {
    Index to = 0;
    Index weight = 1;  // the number of edges between the merged vertices, saturated
};

/// An undirected graph without self-loops and duplicate edges. Every edge is stored at both of its ends.
struct WeightedGraph {
    std::vector<Offset> offsets{0};  // [vertices + 1] into edges
    HostArray<WeightedEdge> edges;
    std::vector<Offset> vertex_weights;  // [vertices] at least 1

    [[nodiscard]] Index vertex_count() const { return static_cast<Index>(offsets.size()) - 1; }
    [[nodiscard]] Offset ends() const { return offsets.back(); }
    [[nodiscard]] Offset ends_before(Index vertex) const { return offsets[vertex]; }
    [[nodiscard]] std::span<const WeightedEdge> edges_of(Index vertex) const {
        return {edges.data() + offsets[vertex], static_cast<std::size_t>(offsets[vertex + 1] - offsets[vertex])};
    }
    void prefetch(Index vertex) const {
        const WeightedEdge* const first = edges.data() + offsets[vertex];
        __builtin_prefetch(first);
        __builtin_prefetch(first + 8);  // the next cache line
    }
};

/// A view of a Graph as a weighted graph whose edges weigh 1. Vertices without edges weigh 0; they are in no cluster and no
/// part.
struct UnitGraph {
    const Graph& graph;
    std::vector<Offset> vertex_weights;  // [vertices]

    /// The edges of one vertex.
    struct Edges {
        struct Iterator {
            const Index* at;
            WeightedEdge operator*() const { return {*at, 1}; }
            Iterator& operator++() {
                ++at;
                return *this;
            }
            friend bool operator==(const Iterator&, const Iterator&) = default;
        };
        std::span<const Index> neighbours;
        [[nodiscard]] Iterator begin() const { return {neighbours.data()}; }
        [[nodiscard]] Iterator end() const { return {neighbours.data() + neighbours.size()}; }
        [[nodiscard]] std::size_t size() const { return neighbours.size(); }
        [[nodiscard]] bool empty() const { return neighbours.empty(); }
    };

    [[nodiscard]] Index vertex_count() const { return graph.vertex_count(); }
    [[nodiscard]] Offset ends() const { return graph.offsets.back(); }
    [[nodiscard]] Offset ends_before(Index vertex) const { return graph.offsets[vertex]; }
    [[nodiscard]] Edges edges_of(Index vertex) const { return {graph.neighbours_of(vertex)}; }
    void prefetch(Index vertex) const {
        const Index* const first = graph.neighbours.data() + graph.offsets[vertex];
        __builtin_prefetch(first);
        __builtin_prefetch(first + 16);  // the next cache line
    }
};

/// Sums by key, in a hash table with open addressing whose size depends only on the number of keys in use.
class SparseSums {
public:
    /// Removes all keys, and reserves space for most_keys keys.
    void start(std::size_t most_keys) {
        for (std::size_t i = 0; i < count_; ++i) table_[used_[i]].key = -1;
        count_ = 0;
        const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * most_keys, 16));
        if (slots > table_.size()) {
            table_.assign(slots, HashSlot{});
            used_.resize(slots / 2);
        }
        shift_ = 32 - static_cast<unsigned>(std::bit_width(slots - 1));
        mask_ = static_cast<std::uint32_t>(slots - 1);
    }

    void add(Index key, Offset amount) {
        std::uint32_t slot = (static_cast<std::uint32_t>(key) * 0x9E3779B1U) >> shift_;
        while (table_[slot].key != key) {
            if (table_[slot].key < 0) {
                table_[slot] = {key, 0};
                used_[count_++] = slot;
                break;
            }
            slot = (slot + 1) & mask_;
        }
        table_[slot].sum += amount;
    }

    [[nodiscard]] std::size_t count() const { return count_; }

    /// Calls visit(key, sum) in the order in which the keys were first added.
    template <typename Visit>
    void visit(const Visit& visit) const {
        for (std::size_t i = 0; i < count_; ++i) visit(table_[used_[i]].key, table_[used_[i]].sum);
    }

private:
    struct HashSlot {
        Index key = -1;  // -1: empty
        Offset sum = 0;
    };
    std::vector<HashSlot> table_;
    std::vector<std::uint32_t> used_;  // the first count_ are the slots in use
    std::size_t count_ = 0;
    unsigned shift_ = 0;
    std::uint32_t mask_ = 0;
};

/// Runs of consecutive vertices of a graph, one per thread, with about equal numbers of edge ends. Consecutive loops over the
/// same runs leave each vertex to the same thread; otherwise, with 16 threads, they spend most of their time on cache lines
/// that other cores have written.
class VertexRuns {
public:
    template <typename AnyGraph>
    explicit VertexRuns(const AnyGraph& graph, Index most_runs = host_threads()) {
        constexpr Index least = 256;  // fewer vertices are not worth a thread
        const Index vertices = graph.vertex_count();
        const Index runs = std::clamp<Index>(vertices / least, 1, most_runs);
        const auto work_before = [&](Index vertex) { return vertex + graph.ends_before(vertex); };
        for (Index run = 1; run < runs; ++run) {
            const Offset wanted = work_before(vertices) / runs * run;
            Index first = boundaries_.back();
            for (Index end = vertices; first < end;) {  // bisection for the first vertex with this much work before it
                const Index middle = first + (end - first) / 2;
                if (work_before(middle) < wanted) {
                    first = middle + 1;
                } else {
                    end = middle;
                }
            }
            boundaries_.push_back(first);
        }
        boundaries_.push_back(vertices);
    }

    /// Calls body(first, last) in parallel for every run. The body may throw.
    template <typename Body>
    void for_each_run(const std::string& name, const Body& body) const {
        guarded_for(name, HostRange<>(0, static_cast<Index>(boundaries_.size()) - 1),
                    [&](Index run) { body(boundaries_[run], boundaries_[run + 1]); });
    }

    /// Calls body(vertex) in parallel for every vertex.
    template <typename Body>
    void for_each_vertex(const std::string& name, const Body& body) const {
        for_each_run(name, [&](Index first, Index last) {
            for (Index vertex = first; vertex < last; ++vertex) body(vertex);
        });
    }

    [[nodiscard]] std::span<const Index> boundaries() const { return boundaries_; }

private:
    std::vector<Index> boundaries_{0};
};

/// Calls body(first, last) in parallel for short runs of the vertices 0 .. count - 1, dealt to idle threads. The body may
/// throw.
template <typename Body>
void for_vertex_runs(const std::string& name, Index count, const Body& body) {
    constexpr Index run = 256;
    guarded_for(name, UnevenHostRange<>(0, count / run + (count % run != 0 ? 1 : 0)).set_chunk_size(1),
                [&](Index i) { body(i * run, std::min<Offset>(count, Offset{i + 1} * run)); });
}

}  // namespace workbench
