#include "stages/multilevel.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "stages/coarsen_graph.hpp"
#include "stages/refine_partition.hpp"
#include "stages/supervariables.hpp"

namespace workbench {
namespace {

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
