#include "stages/supervariables.hpp"

#include <limits>

#include "core/matrix/random.hpp"

namespace workbench {
namespace {

/// The next neighbour that is neither a nor b.
std::span<const Index>::iterator skip(std::span<const Index>::iterator at, std::span<const Index>::iterator end, Index a,
                                      Index b) {
    while (at != end && (*at == a || *at == b)) ++at;
    return at;
}

/// Returns true if two adjacent vertices of the same degree have the same neighbours, apart from each other.
bool same_neighbours(const Graph& graph, Index a, Index b) {
    const auto of_a = graph.neighbours_of(a);
    const auto of_b = graph.neighbours_of(b);
    auto i = skip(of_a.begin(), of_a.end(), a, b);
    auto j = skip(of_b.begin(), of_b.end(), a, b);
    while (i != of_a.end() && j != of_b.end()) {
        if (*i != *j) return false;
        i = skip(i + 1, of_a.end(), a, b);
        j = skip(j + 1, of_b.end(), a, b);
    }
    return i == of_a.end() && j == of_b.end();
}

/// [vertices] The first vertex with which each vertex is merged, or itself; -1 for vertices without edges.
std::vector<Index> first_of_same(const Graph& graph) {
    const Index vertices = graph.vertex_count();
    std::vector<std::uint64_t> hash(vertices);
    Kokkos::parallel_for("hash_neighbours", UnevenHostRange<>(0, vertices), [&](Index vertex) {
        std::uint64_t sum = mixed(vertex);
        for (const Index neighbour : graph.neighbours_of(vertex)) sum += mixed(neighbour);
        hash[vertex] = sum;
    });
    std::vector<Index> first(vertices);
    Kokkos::parallel_for("first_of_same", UnevenHostRange<>(0, vertices), [&](Index vertex) {
        first[vertex] = graph.degree(vertex) > 0 ? vertex : -1;
        for (const Index neighbour : graph.neighbours_of(vertex)) {
            if (neighbour > vertex) break;  // neighbours ascend
            if (hash[neighbour] != hash[vertex] || graph.degree(neighbour) != graph.degree(vertex)) continue;
            if (!same_neighbours(graph, neighbour, vertex)) continue;
            first[vertex] = neighbour;
            break;
        }
    });
    return first;
}

}  // namespace

double share_to_merge(const Graph& graph) {
    const Index stride = graph.vertex_count() / 8192 + 1;
    const Index samples = graph.vertex_count() / stride;
    Index merged = 0;
    Kokkos::parallel_reduce(
        "share_to_merge", UnevenHostRange<>(0, samples),
        [&](Index sample, Index& sum) {
            const Index vertex = sample * stride;
            for (const Index neighbour : graph.neighbours_of(vertex)) {
                if (neighbour > vertex) break;
                if (graph.degree(neighbour) != graph.degree(vertex) || !same_neighbours(graph, neighbour, vertex)) continue;
                ++sum;
                break;
            }
        },
        merged);
    return samples == 0 ? 0 : static_cast<double>(merged) / samples;
}

MergedGraph merge_supervariables(const Graph& graph, const std::vector<Offset>& weights) {
    const Index vertices = graph.vertex_count();
    const std::vector<Index> first = first_of_same(graph);
    MergedGraph result;
    result.vertex_of.assign(vertices, -1);
    Index count = 0;
    Kokkos::parallel_scan(
        "number_vertices", UnevenHostRange<>(0, vertices),
        [&](Index vertex, Index& number, bool last) {
            if (first[vertex] != vertex) return;
            if (last) result.vertex_of[vertex] = number;
            ++number;
        },
        count);
    Kokkos::parallel_for("number_merged_vertices", UnevenHostRange<>(0, vertices), [&](Index vertex) {
        if (first[vertex] >= 0 && first[vertex] != vertex) result.vertex_of[vertex] = result.vertex_of[first[vertex]];
    });

    WeightedGraph& merged = result.graph;
    std::vector<Index> multiplicity(count, 0);
    merged.vertex_weights.assign(count, 0);
    merged.offsets.assign(static_cast<std::size_t>(count) + 1, 0);
    Kokkos::parallel_for("merge_vertices", UnevenHostRange<>(0, vertices), [&](Index vertex) {
        const Index number = result.vertex_of[vertex];
        if (number < 0) return;
        Kokkos::atomic_add(&multiplicity[number], Index{1});
        Kokkos::atomic_add(&merged.vertex_weights[number], weights[vertex]);
        if (first[vertex] != vertex) return;
        Offset degree = 0;
        for (const Index neighbour : graph.neighbours_of(vertex)) {
            if (first[neighbour] == neighbour && neighbour != first[vertex]) ++degree;
        }
        merged.offsets[number + 1] = degree;
    });
    sum_up(merged.offsets);
    make_room(merged.edges, merged.offsets.back());
    Kokkos::parallel_for("merge_edges", UnevenHostRange<>(0, vertices), [&](Index vertex) {
        if (first[vertex] != vertex) return;
        const Index number = result.vertex_of[vertex];
        WeightedEdge* edge = merged.edges.data() + merged.offsets[number];
        for (const Index neighbour : graph.neighbours_of(vertex)) {
            if (first[neighbour] != neighbour) continue;
            const Index other = result.vertex_of[neighbour];
            const Offset weight = Offset{multiplicity[number]} * multiplicity[other];
            *edge++ = {other, static_cast<Index>(std::min<Offset>(weight, std::numeric_limits<Index>::max()))};
        }
    });
    return result;
}

}  // namespace workbench
