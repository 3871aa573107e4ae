// A graph with weights, as multilevel partitioning makes it coarser and coarser.
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/host_threads.hpp"
#include "pipeline/matrix/types.hpp"
#include "stages/graph.hpp"

namespace workbench {

/// One end of an undirected edge.
struct WeightedEdge {
    Index to = 0;
    Index weight = 1;  // of so many edges between the rows that the two vertices stand for; at most the largest Index
};

/// An undirected graph without self-loops and duplicate edges; every edge is stored at both of its ends.
struct WeightedGraph {
    std::vector<Offset> offsets{0};  // [vertices + 1] into edges
    RawArray<WeightedEdge> edges;
    std::vector<Offset> vertex_weights;  // [vertices], each at least 1

    [[nodiscard]] Index vertex_count() const { return static_cast<Index>(offsets.size()) - 1; }
    [[nodiscard]] Offset ends() const { return offsets.back(); }
    [[nodiscard]] Offset ends_before(Index vertex) const { return offsets[vertex]; }
    [[nodiscard]] std::span<const WeightedEdge> edges_of(Index vertex) const {
        return {edges.data() + offsets[vertex], static_cast<std::size_t>(offsets[vertex + 1] - offsets[vertex])};
    }
    void prefetch(Index vertex) const {
        const WeightedEdge* const first = edges.data() + offsets[vertex];
        __builtin_prefetch(first);
        __builtin_prefetch(first + 8);  // the next line
    }
};

/// A Graph whose edges all weigh 1, seen as one with weights, without a copy of its edges. Vertices without edges weigh 0: they
/// are in no cluster and in no part.
struct UnitGraph {
    const Graph& graph;
    std::vector<Offset> vertex_weights;  // [vertices]

    /// The ends of the edges of one vertex.
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
        __builtin_prefetch(first + 16);  // the next line
    }
};

/// Sums by key, for few of many keys: a table with open addressing, whose room grows with the keys in use alone.
class SparseSums {
public:
    /// Forgets all keys and makes room for so many.
    void start(std::size_t most_keys) {
        for (std::size_t i = 0; i < count_; ++i) table_[used_[i]].key = -1;
        count_ = 0;
        const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * most_keys, 16));
        if (slots > table_.size()) {
            table_.assign(slots, Slot{});
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

    /// Calls visit(key, sum), in the order in which the keys first came.
    template <typename Visit>
    void visit(const Visit& visit) const {
        for (std::size_t i = 0; i < count_; ++i) visit(table_[used_[i]].key, table_[used_[i]].sum);
    }

private:
    struct Slot {
        Index key = -1;  // -1: free
        Offset sum = 0;
    };
    std::vector<Slot> table_;
    std::vector<std::uint32_t> used_;  // the first count_: slots with a key
    std::size_t count_ = 0;
    unsigned shift_ = 0;
    std::uint32_t mask_ = 0;
};

/// Consecutive runs of the vertices of a graph, one a thread, with about as many ends of edges each. Loops that take them one
/// after the other leave a vertex to the same thread: with 16 threads most of such a loop's time is otherwise waiting for what
/// another core wrote last.
class VertexRuns {
public:
    template <typename AnyGraph>
    explicit VertexRuns(const AnyGraph& graph, Index most_runs = host_threads()) {
        constexpr Index least = 256;  // vertices worth a thread
        const Index vertices = graph.vertex_count();
        const Index runs = std::clamp<Index>(vertices / least, 1, most_runs);
        const auto work_before = [&](Index vertex) { return vertex + graph.ends_before(vertex); };
        for (Index run = 1; run < runs; ++run) {
            const Offset wanted = work_before(vertices) / runs * run;
            Index first = boundaries_.back();           // the first with so much work before it lies from here ...
            for (Index end = vertices; first < end;) {  // ... to here
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

    /// Calls body(first, last) in parallel for every run. What the body throws comes to the caller.
    template <typename Body>
    void for_each_run(const std::string& name, const Body& body) const {
        using Runs = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
        guarded_for(name, Runs(0, static_cast<Index>(boundaries_.size()) - 1),
                    [&](Index run) { body(boundaries_[run], boundaries_[run + 1]); });
    }

    /// Calls body(vertex) for every vertex, in parallel.
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

/// Calls body(first, last) in parallel for runs of the vertices 0 .. count - 1 that are large enough to make tables for. What
/// the body throws comes to the caller.
template <typename Body>
void for_vertex_runs(const std::string& name, Index count, const Body& body) {
    constexpr Index run = 256;
    using Runs =
        Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;
    guarded_for(name, Runs(0, count / run + (count % run != 0 ? 1 : 0)).set_chunk_size(1),
                [&](Index i) { body(i * run, std::min<Offset>(count, Offset{i + 1} * run)); });
}

}  // namespace workbench
