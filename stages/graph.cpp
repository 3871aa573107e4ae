#include "stages/graph.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <numeric>

namespace workbench {
namespace {

using Range =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

/// Calls visit(node, other) for every entry that joins two nodes, in parallel over the rows. Entries of one row in the same
/// other node are neighbours in memory and are visited once.
template <typename Visit>
void for_each_link(const CsrMatrix& matrix, Index node_size, const Visit& visit) {
    Kokkos::parallel_for("links", Range(0, matrix.rows), [&](Index row) {
        const Index node = row / node_size;
        Index previous = node;
        for (const Index column : matrix.row_columns(row)) {
            const Index other = column / node_size;
            if (other != node && other != previous) visit(node, other);
            previous = other;
        }
    });
}

}  // namespace

Graph adjacency_graph(const CsrMatrix& matrix, Index node_size) {
    const Index nodes = matrix.rows / node_size;

    // First every link at both of its ends, in any order and more than once.
    std::vector<Offset> begin(static_cast<std::size_t>(nodes) + 1, 0);
    for_each_link(matrix, node_size, [&begin](Index a, Index b) {
        Kokkos::atomic_fetch_add(&begin[a + 1], Offset{1});
        Kokkos::atomic_fetch_add(&begin[b + 1], Offset{1});
    });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> links(begin.back());
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    for_each_link(matrix, node_size, [&](Index a, Index b) {
        links[Kokkos::atomic_fetch_add(&next[a], Offset{1})] = b;
        links[Kokkos::atomic_fetch_add(&next[b], Offset{1})] = a;
    });

    // Sorting makes the result independent of the order in which threads came.
    Graph graph;
    graph.offsets.assign(begin.size(), 0);
    Kokkos::parallel_for("sort_neighbours", Range(0, nodes), [&](Index node) {
        const auto first = links.begin() + begin[node];
        const auto last = links.begin() + begin[node + 1];
        std::sort(first, last);
        graph.offsets[node + 1] = std::unique(first, last) - first;
    });
    std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
    graph.neighbours.resize(graph.offsets.back());
    Kokkos::parallel_for("close_gaps", Range(0, nodes), [&](Index node) {
        std::copy_n(links.begin() + begin[node], graph.degree(node), graph.neighbours.begin() + graph.offsets[node]);
    });
    return graph;
}

}  // namespace workbench
