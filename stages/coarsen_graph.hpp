// Coarsening, one step of multilevel partitioning: clusters of vertices become single vertices.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/weighted_graph.hpp"

namespace workbench {

struct Clusters {
    std::vector<Index> of;  // [vertices] the cluster of each vertex; -1: none, because it has no edges
    Index count = 0;
};

/// Aggregation around leaders, about one vertex in four, which are chosen by a hash. Each vertex follows the adjacent leader of
/// highest rank or, without an adjacent leader, the leader of a neighbour. Ignores edge weights, so it suits graphs with
/// similar ones; reads each edge once, in order. No cluster becomes much heavier than `heaviest`. Clusters are numbered in the
/// order of their leaders. In parallel, with the same result for any number of threads. Source: Bell, Dalton, Olson, "Exposing
/// fine-grained parallelism in algebraic multigrid methods", SIAM J. Scientific Computing 2012, with random roots instead of an
/// independent set.
template <typename AnyGraph>
[[nodiscard]] Clusters gather_around_leaders(const AnyGraph& graph, Offset heaviest, std::uint64_t seed);

/// Clustering along heavy edges, with clusters not much heavier than `heaviest`. In rounds, each singleton requests to join the
/// adjacent cluster to which it is coupled most, relative to the cluster's weight. If more than three quarters of the vertices
/// remain, as in stars, singletons that prefer the same cluster are merged with each other (two-hop matching). Clusters are
/// numbered in the order of their leaders. In parallel, with the same result for any number of threads. Source:
/// size-constrained label propagation of Meyerhenke, Sanders, Schulz, "Partitioning complex networks via size-constrained
/// clustering", SEA 2014, in synchronous rounds as in Gottesbueren, Hamann, "Deterministic parallel hypergraph partitioning",
/// Euro-Par 2022; two-hop matching: LaSalle et al., "Improving graph partitioning for modern graphs and architectures", IA3
/// 2015.
template <typename AnyGraph>
[[nodiscard]] Clusters gather_along_heavy_edges(const AnyGraph& graph, Offset heaviest, std::uint64_t seed);

/// The graph of the clusters, none of which is empty. Weights of vertices and of parallel edges add up, and edges within
/// clusters vanish. In parallel, with the same result for any number of threads.
template <typename AnyGraph>
[[nodiscard]] WeightedGraph contract(const AnyGraph& graph, const Clusters& clusters);

}  // namespace workbench
