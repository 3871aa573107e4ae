#include "stages/multilevel.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "core/matrix/random.hpp"
#include "stages/coarsen_graph.hpp"
#include "stages/refine_partition.hpp"

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

/// A graph, and the clusters that become the vertices of the next coarser graph.
struct CoarseLevel {
    WeightedGraph graph;
    Clusters clusters;
};

/// Coarsening ends if more than this fraction of the vertices remains.
constexpr double stalled = 0.95;
/// The maximum weight of a cluster, in vertices of the mean weight of its level. Clusters around leaders have about 6 vertices,
/// with a few large exceptions; clusters along edges are kept uniform, because edges reach further in a coarser graph.
constexpr Offset vertices_around_leader = 20;
constexpr Offset vertices_along_edges = 5;
/// The maximum weight of a cluster on any level, relative to the mean vertex weight of the graph for METIS, so that parts can
/// be balanced.
constexpr double heaviest_for_metis = 1.5;

/// Returns true if a vertex has many times more edges than the mean, as in networks.
template <typename AnyGraph>
bool is_uneven(const AnyGraph& graph) {
    constexpr Offset times_the_mean = 16;
    Offset most = 0;
    Kokkos::parallel_reduce(
        "most_edges", HostRange<>(0, graph.vertex_count()),
        [&](Index vertex, Offset& found) { found = std::max(found, static_cast<Offset>(graph.edges_of(vertex).size())); },
        Kokkos::Max<Offset>(most));
    return most * graph.vertex_count() > times_the_mean * graph.ends();
}

/// Turns are most expensive on the finest level, where further turns gain little in meshes. Networks need more turns, because
/// their clusters predict good borders less well.
Refinement refinement_of(bool uneven, bool finest) {
    Refinement refinement;
    refinement.most_turns = uneven ? 24 : 12;
    refinement.least_gain = uneven ? 0.001 : (finest ? 0.015 : 0.002);
    return refinement;
}

/// Projects a partition of clusters to their vertices.
void project(Partition& partition, const WeightedGraph& coarse, const Clusters& clusters) {
    measure_border(coarse, partition);
    const auto vertices = static_cast<Index>(clusters.of.size());
    std::vector<Index> part_of(vertices);
    std::vector<char> border(vertices);
    Kokkos::parallel_for("project", HostRange<>(0, vertices), [&](Index vertex) {
        const Index cluster = clusters.of[vertex];
        part_of[vertex] = cluster < 0 ? 0 : partition.part_of[cluster];
        border[vertex] = cluster < 0 ? char{0} : partition.border[cluster];
    });
    partition.part_of = std::move(part_of);
    partition.border = std::move(border);
}

/// A partition of a small graph: by METIS for vertices with edges; all others, in order of descending weight, go to the
/// lightest part.
std::vector<Index> first_partition(const WeightedGraph& graph, Index parts, const MetisOptions& options,
                                   std::string_view stage) {
    std::vector<Index> part_of(graph.vertex_count(), -1);
    MetisGraph coupled = metis_graph(graph, stage);
    if (std::cmp_less(parts, coupled.vertices.size())) {
        part_of = partition_with_metis(std::move(coupled), parts, options).part_of;
    }
    std::vector<Offset> weight(parts, 0);
    std::vector<Index> unassigned;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (part_of[vertex] >= 0) weight[part_of[vertex]] += graph.vertex_weights[vertex];
        if (part_of[vertex] < 0) unassigned.push_back(vertex);
    }
    std::stable_sort(unassigned.begin(), unassigned.end(),
                     [&](Index a, Index b) { return graph.vertex_weights[a] > graph.vertex_weights[b]; });
    using WeightAndPart = std::pair<Offset, Index>;
    std::priority_queue<WeightAndPart, std::vector<WeightAndPart>, std::greater<>> lightest;
    for (Index part = 0; part < parts; ++part) lightest.emplace(weight[part], part);
    for (const Index vertex : unassigned) {
        const auto [before, part] = lightest.top();
        lightest.pop();
        part_of[vertex] = part;
        lightest.emplace(before + graph.vertex_weights[vertex], part);
    }
    return part_of;
}

/// The number of vertices at which coarsening ends.
Offset enough_for_metis(Index parts, const MultilevelOptions& options) {
    return std::max(Offset{options.vertices_a_part} * parts, options.least_vertices);
}

template <typename AnyGraph>
FoundPartition partition_large(const AnyGraph& graph, Index parts, const MultilevelOptions& options, std::string_view stage) {
    const Offset total = std::accumulate(graph.vertex_weights.begin(), graph.vertex_weights.end(), Offset{0});
    const Offset enough = enough_for_metis(parts, options);
    const Offset too_few = std::max<Offset>(enough / 2, parts);
    const auto heaviest_cluster =
        static_cast<Offset>(heaviest_for_metis * static_cast<double>(total) / static_cast<double>(enough));
    const auto heaviest = [&](Index vertices, Offset times) {
        return std::min(heaviest_cluster, times * (total / vertices + 1));
    };
    const bool uneven = is_uneven(graph);
    const auto seed = static_cast<std::uint64_t>(options.metis.seed);
    const Index finest = graph.vertex_count();
    const Clusters first = uneven ? gather_along_heavy_edges(graph, heaviest(finest, vertices_along_edges), seed)
                                  : gather_around_leaders(graph, heaviest(finest, vertices_around_leader), seed);
    std::deque<CoarseLevel> levels;
    levels.push_back({contract(graph, first), {}});
    while (levels.back().graph.vertex_count() > enough) {
        CoarseLevel& finer = levels.back();
        const Index vertices = finer.graph.vertex_count();
        finer.clusters = gather_along_heavy_edges(finer.graph, heaviest(vertices, vertices_along_edges), seed + levels.size());
        if (finer.clusters.count > stalled * vertices || finer.clusters.count <= too_few) break;
        WeightedGraph coarse = contract(finer.graph, finer.clusters);
        levels.push_back({std::move(coarse), {}});
    }
    FoundPartition result;
    result.levels.push_back(finest);
    for (const CoarseLevel& level : levels) result.levels.push_back(level.graph.vertex_count());

    Partition partition{.part_of = first_partition(levels.back().graph, parts, options.metis, stage), .parts = parts};
    measure_border(levels.back().graph, partition);
    const double allowed = options.metis.imbalance * static_cast<double>(total) / parts;
    const Offset heaviest_part = std::max(static_cast<Offset>(allowed), total / parts + 1);
    for (std::size_t i = levels.size(); i-- > 0;) {
        if (i + 1 < levels.size()) project(partition, levels[i + 1].graph, levels[i].clusters);
        refine_partition(levels[i].graph, partition, heaviest_part, refinement_of(uneven, false), seed + i);
    }
    project(partition, levels.front().graph, first);
    refine_partition(graph, partition, heaviest_part, refinement_of(uneven, true), seed + levels.size());
    result.cut = partition.cut;
    result.part_of = std::move(partition.part_of);
    return result;
}

/// Merging takes longer than it saves if it removes a smaller fraction of the vertices.
constexpr double least_share_to_merge = 0.1;

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

FoundPartition partition_in_levels(const Graph& graph, const std::vector<Offset>& weights, Index parts,
                                   const MultilevelOptions& options, std::string_view stage) {
    const Index vertices = graph.vertex_count();
    const Offset large = 2 * enough_for_metis(parts, options);
    Index coupled = 0;
    Kokkos::parallel_reduce(
        "coupled_vertices", HostRange<>(0, vertices),
        [&](Index vertex, Index& sum) { sum += graph.degree(vertex) > 0 ? 1 : 0; }, coupled);
    if (coupled <= large) {
        FoundPartition result = partition_with_metis(metis_graph(graph, weights, stage), parts, options.metis);
        result.levels = {coupled};
        return result;
    }
    if (share_to_merge(graph) >= least_share_to_merge) {
        const MergedGraph merged = merge_supervariables(graph, weights);
        if (merged.graph.vertex_count() > large) {
            FoundPartition result = partition_large(merged.graph, parts, options, stage);
            std::vector<Index> part_of(vertices, -1);
            Kokkos::parallel_for("unmerge", HostRange<>(0, vertices), [&](Index vertex) {
                if (merged.vertex_of[vertex] >= 0) part_of[vertex] = result.part_of[merged.vertex_of[vertex]];
            });
            result.part_of = std::move(part_of);
            result.levels.insert(result.levels.begin(), coupled);
            return result;
        }
    }
    UnitGraph unit{graph, weights};
    Kokkos::parallel_for("weigh_coupled", HostRange<>(0, vertices), [&](Index vertex) {
        if (graph.degree(vertex) == 0) unit.vertex_weights[vertex] = 0;
    });
    FoundPartition result = partition_large(unit, parts, options, stage);
    result.levels.front() = coupled;
    return result;
}

}  // namespace workbench
