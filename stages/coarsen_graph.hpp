// One step of multilevel partitioning: vertices that belong together become one.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/weighted_graph.hpp"

namespace workbench {

/// Which cluster each vertex belongs to, -1: none, as it has no edges.
struct Clusters {
    std::vector<Index> of;
    Index count = 0;
};

/// Gathers vertices around leaders that a hash chooses, about one in four: each follows the neighbouring leader of highest
/// rank, or where there is none, the leader that a neighbour follows. Weights of edges do not count: for graphs whose edges
/// weigh about the same. It reads each edge once, in order. No cluster becomes much heavier than `heaviest`. Clusters are
/// numbered by their leaders. In parallel, the same for any number of threads. Source: aggregates around roots, as of Bell,
/// Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid methods" (2012), with roots by chance instead of an
/// independent set.
template <typename AnyGraph>
[[nodiscard]] Clusters gather_around_leaders(const AnyGraph& graph, Offset heaviest, std::uint64_t seed);

/// Gathers vertices in clusters along heavy edges, none much heavier than `heaviest`: in rounds, each vertex that is still
/// alone asks for the neighbouring cluster that it is coupled to most, and leaders stay. Where that leaves more than three
/// quarters of the vertices, as in stars, those that are alone and would have gone to one cluster are gathered themselves.
/// Clusters are numbered by their leaders. In parallel, the same for any number of threads. Source: size-constrained label
/// propagation of Meyerhenke, Sanders, Schulz (2014), in synchronous rounds as by Gottesbueren, Hamann, Sanders, Wagner,
/// "Deterministic parallel hypergraph partitioning" (2022); two hops: LaSalle et al. (2015).
template <typename AnyGraph>
[[nodiscard]] Clusters gather_along_heavy_edges(const AnyGraph& graph, Offset heaviest, std::uint64_t seed);

/// The graph of the clusters, none of which is empty: weights of their vertices and of parallel edges add up, edges inside a
/// cluster vanish. In parallel, the same for any number of threads.
template <typename AnyGraph>
[[nodiscard]] WeightedGraph contract(const AnyGraph& graph, const Clusters& clusters);

}  // namespace workbench
