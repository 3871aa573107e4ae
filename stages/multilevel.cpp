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

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// A graph and the clusters that its vertices become in the next, coarser one.
struct Level {
    WeightedGraph graph;
    Clusters clusters;
};

/// Coarsening that leaves more of the vertices than this has come to its end.
constexpr double stalled = 0.95;
/// What a cluster may weigh: as many vertices of the mean weight of its level. Following leaders gives about six, and a few of
/// many; edges then lead further in the coarser graph, whose clusters are to be alike.
constexpr Offset vertices_around_leader = 20;
constexpr Offset vertices_along_edges = 5;
/// ... and on all levels this, where METIS's graph has vertices of mean weight 1: parts can then be balanced.
constexpr double heaviest_for_metis = 1.5;

/// Has a vertex many times as many edges as the mean, as in networks?
template <typename AnyGraph>
bool is_uneven(const AnyGraph& graph) {
    constexpr Offset times_the_mean = 16;
    Offset most = 0;
    Kokkos::parallel_reduce(
        "most_edges", Range(0, graph.vertex_count()),
        [&](Index vertex, Offset& found) { found = std::max(found, static_cast<Offset>(graph.edges_of(vertex).size())); },
        Kokkos::Max<Offset>(most));
    return most * graph.vertex_count() > times_the_mean * graph.ends();
}

/// Turns cost most on the finest level, where the next ones gain little in a mesh. The graphs of networks are worth more of
/// them: their clusters say less about where good borders run.
Refinement refinement_of(bool uneven, bool finest) {
    Refinement refinement;
    refinement.most_turns = uneven ? 24 : 12;
    refinement.least_gain = uneven ? 0.001 : (finest ? 0.015 : 0.002);
    return refinement;
}

/// Brings a partition of clusters to their vertices.
void project(Partition& partition, const WeightedGraph& coarse, const Clusters& clusters) {
    measure_border(coarse, partition);
    const auto vertices = static_cast<Index>(clusters.of.size());
    std::vector<Index> part_of(vertices);
    std::vector<char> border(vertices);
    Kokkos::parallel_for("project", Range(0, vertices), [&](Index vertex) {
        const Index cluster = clusters.of[vertex];
        part_of[vertex] = cluster < 0 ? 0 : partition.part_of[cluster];
        border[vertex] = cluster < 0 ? char{0} : partition.border[cluster];
    });
    partition.part_of = std::move(part_of);
    partition.border = std::move(border);
}

/// The parts of the vertices of a small graph: METIS's where they have edges, always the lightest for the others, the heaviest
/// of them first.
std::vector<Index> first_partition(const WeightedGraph& graph, Index parts, const MetisOptions& options,
                                   std::string_view stage) {
    std::vector<Index> part_of(graph.vertex_count(), -1);
    MetisGraph coupled = metis_graph(graph, stage);
    if (std::cmp_less(parts, coupled.vertices.size())) {
        partition_with_metis(std::move(coupled), parts, options, stage, part_of);
    }
    std::vector<Offset> weight(parts, 0);
    std::vector<Index> left;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (part_of[vertex] >= 0) weight[part_of[vertex]] += graph.vertex_weights[vertex];
        if (part_of[vertex] < 0) left.push_back(vertex);
    }
    std::stable_sort(left.begin(), left.end(),
                     [&](Index a, Index b) { return graph.vertex_weights[a] > graph.vertex_weights[b]; });
    using WeightAndPart = std::pair<Offset, Index>;
    std::priority_queue<WeightAndPart, std::vector<WeightAndPart>, std::greater<>> lightest;
    for (Index part = 0; part < parts; ++part) lightest.emplace(weight[part], part);
    for (const Index vertex : left) {
        const auto [before, part] = lightest.top();
        lightest.pop();
        part_of[vertex] = part;
        lightest.emplace(before + graph.vertex_weights[vertex], part);
    }
    return part_of;
}

/// Of how many vertices METIS is to partition a graph.
Offset enough_for_metis(Index parts, const MultilevelOptions& options) {
    return std::max(Offset{options.vertices_a_part} * parts, options.least_vertices);
}

template <typename AnyGraph>
MultilevelResult partition_large(const AnyGraph& graph, Index parts, const MultilevelOptions& options, std::string_view stage,
                                 std::vector<Index>& part_of) {
    const Offset total = std::accumulate(graph.vertex_weights.begin(), graph.vertex_weights.end(), Offset{0});
    const Offset enough = enough_for_metis(parts, options);
    const Offset too_few = std::max<Offset>(enough / 2, parts);
    const auto heaviest_cluster =
        static_cast<Offset>(heaviest_for_metis * static_cast<double>(total) / static_cast<double>(enough));
    const auto heaviest = [&](Index vertices, Offset times) {
        return std::max(std::min(heaviest_cluster, times * (total / vertices + 1)), Offset{1});
    };
    const bool uneven = is_uneven(graph);
    const auto seed = static_cast<std::uint64_t>(options.metis.seed);
    const Index finest = graph.vertex_count();
    const Clusters first = uneven ? gather_along_heavy_edges(graph, heaviest(finest, vertices_along_edges), seed)
                                  : gather_around_leaders(graph, heaviest(finest, vertices_around_leader), seed);
    std::deque<Level> levels;
    levels.push_back({contract(graph, first), {}});
    while (levels.back().graph.vertex_count() > enough) {
        Level& finer = levels.back();
        const Index vertices = finer.graph.vertex_count();
        finer.clusters = gather_along_heavy_edges(finer.graph, heaviest(vertices, vertices_along_edges), seed + levels.size());
        if (finer.clusters.count > stalled * vertices || finer.clusters.count <= too_few) break;
        WeightedGraph coarse = contract(finer.graph, finer.clusters);
        levels.push_back({std::move(coarse), {}});
    }
    MultilevelResult result;
    result.levels.push_back(finest);
    for (const Level& level : levels) result.levels.push_back(level.graph.vertex_count());

    Partition partition{first_partition(levels.back().graph, parts, options.metis, stage), parts, 0, {}};
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
    part_of = std::move(partition.part_of);
    return result;
}

/// Merging that takes away less than this is not worth its time.
constexpr double least_share_to_merge = 0.1;

}  // namespace

MultilevelResult partition_in_levels(const Graph& graph, const std::vector<Offset>& weights, Index parts,
                                     const MultilevelOptions& options, std::string_view stage, std::vector<Index>& part_of) {
    const Index vertices = graph.vertex_count();
    const Offset large = 2 * enough_for_metis(parts, options);
    Index coupled = 0;
    Kokkos::parallel_reduce(
        "coupled_vertices", Range(0, vertices), [&](Index vertex, Index& sum) { sum += graph.degree(vertex) > 0 ? 1 : 0; },
        coupled);
    if (coupled <= large) {
        const Offset cut = partition_with_metis(metis_graph(graph, weights, stage), parts, options.metis, stage, part_of);
        return {cut, {coupled}};
    }
    if (share_to_merge(graph) >= least_share_to_merge) {
        const MergedGraph merged = merge_supervariables(graph, weights);
        if (merged.graph.vertex_count() > large) {
            std::vector<Index> part_of_merged;
            MultilevelResult result = partition_large(merged.graph, parts, options, stage, part_of_merged);
            Kokkos::parallel_for("unmerge", Range(0, vertices), [&](Index vertex) {
                if (merged.vertex_of[vertex] >= 0) part_of[vertex] = part_of_merged[merged.vertex_of[vertex]];
            });
            result.levels.insert(result.levels.begin(), coupled);
            return result;
        }
    }
    UnitGraph unit{graph, weights};
    Kokkos::parallel_for("weigh_coupled", Range(0, vertices), [&](Index vertex) {
        if (graph.degree(vertex) == 0) unit.vertex_weights[vertex] = 0;
    });
    MultilevelResult result = partition_large(unit, parts, options, stage, part_of);
    result.levels.front() = coupled;
    return result;
}

}  // namespace workbench
