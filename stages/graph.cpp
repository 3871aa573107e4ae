#include "stages/graph.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

/// The directed edges from rows to columns, without self-loops, ascending for each node.
Graph links_of_rows(const CsrMatrix& matrix, Index node_size) {
    const Index nodes = matrix.rows / node_size;
    HostArray<Index> links =
        unwritten_array<Index>(matrix.nonzeros());  // with gaps: those of a node start where its entries do
    const auto first_link = [&](Index node) { return links.data() + matrix.row_offsets[node * node_size]; };

    Graph graph;
    graph.offsets.assign(static_cast<std::size_t>(nodes) + 1, 0);
    Kokkos::parallel_for("links_of_rows", UnevenHostRange<>(0, nodes), [&](Index node) {
        auto* const first = first_link(node);
        auto* last = first;
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) {
            Index previous = node;
            for (const Index column : matrix.row_columns(row)) {
                const Index other = column / node_size;
                if (other != node && other != previous) *last++ = other;
                previous = other;
            }
        }
        if (node_size > 1) {
            std::sort(first, last);
            last = std::unique(first, last);
        }
        graph.offsets[node + 1] = last - first;
    });
    sum_up(graph.offsets);

    make_room(graph.neighbours, graph.offsets.back());
    Kokkos::parallel_for("close_gaps", UnevenHostRange<>(0, nodes), [&](Index node) {
        std::copy_n(first_link(node), graph.degree(node), graph.neighbours.begin() + graph.offsets[node]);
    });
    return graph;
}

/// Returns true if there is an edge b -> a for every edge a -> b. Compares sums of hashes (128 bits) in which the two cancel,
/// because a search for each edge would take longer than the rest of the construction.
bool has_both_directions(const Graph& graph) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    Kokkos::parallel_reduce(
        "has_both_directions", UnevenHostRange<>(0, graph.vertex_count()),
        [&](Index a, std::uint64_t& one, std::uint64_t& other) {
            for (const Index b : graph.neighbours_of(a)) {
                const auto low = static_cast<std::uint64_t>(std::min(a, b));
                const std::uint64_t hash = mixed((low << 32) + static_cast<std::uint64_t>(std::max(a, b)));
                one += a < b ? hash : -hash;
                other += a < b ? mixed(hash) : -mixed(hash);
            }
        },
        first, second);
    return first == 0 && second == 0;
}

/// Calls visit(b, a) in parallel for every edge a -> b without an edge b -> a.
template <typename Visit>
void for_each_missing(const Graph& graph, const Visit& visit) {
    Kokkos::parallel_for("missing_edges", UnevenHostRange<>(0, graph.vertex_count()), [&](Index a) {
        for (const Index b : graph.neighbours_of(a)) {
            const auto back = graph.neighbours_of(b);
            if (!std::binary_search(back.begin(), back.end(), a)) visit(b, a);
        }
    });
}

/// Adds the missing reverse edges. Matrices of symmetric pattern, which are the most common ones, have none.
Graph with_both_directions(Graph graph) {
    if (has_both_directions(graph)) return graph;
    HostArray<Offset> offsets(graph.offsets.size(), 0);
    for_each_missing(graph, [&offsets](Index from, Index) { Kokkos::atomic_fetch_add(&offsets[from + 1], Offset{1}); });
    sum_up(offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] += graph.offsets[i];

    HostArray<Index> neighbours;
    make_room(neighbours, offsets.back());
    std::vector<Offset> next(graph.vertex_count());
    Kokkos::parallel_for("copy_edges", UnevenHostRange<>(0, graph.vertex_count()), [&](Index vertex) {
        const auto old = graph.neighbours_of(vertex);
        std::copy(old.begin(), old.end(), neighbours.begin() + offsets[vertex]);
        next[vertex] = offsets[vertex] + graph.degree(vertex);
    });
    for_each_missing(graph, [&](Index from, Index to) { neighbours[Kokkos::atomic_fetch_add(&next[from], Offset{1})] = to; });
    // This also makes the result independent of the order in which threads appended edges.
    Kokkos::parallel_for("sort_edges", UnevenHostRange<>(0, graph.vertex_count()), [&](Index vertex) {
        std::sort(neighbours.begin() + offsets[vertex], neighbours.begin() + offsets[vertex + 1]);
    });
    return {std::move(offsets), std::move(neighbours)};
}

}  // namespace

Graph adjacency_graph(const CsrMatrix& matrix, Index node_size) {
    return with_both_directions(links_of_rows(matrix, node_size));
}

}  // namespace workbench
