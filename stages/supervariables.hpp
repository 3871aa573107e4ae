// Compression of a graph before partitioning: merges vertices with the same neighbours.
#pragma once

#include <vector>

#include "stages/graph.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {

struct MergedGraph {
    WeightedGraph graph;
    std::vector<Index> vertex_of;  // [vertices of the original graph] their vertex in `graph`; -1: none
};

/// Merges adjacent vertices with the same closed neighbourhood, such as the unknowns of a mesh node. Weights of vertices and
/// edges add up, so that a partition has the same cut in both graphs. Vertices without edges are omitted. Merged vertices are
/// in the order of their first vertices. Hashes are verified by comparing the neighbourhoods. In parallel, with the same result
/// for any number of threads. Source: supervariables of Duff, Reid, "The multifrontal solution of indefinite sparse symmetric
/// linear equations", ACM TOMS 1983, found by hashing after Ashcraft, "Compressed graphs and the minimum degree algorithm",
/// SIAM J. Scientific Computing 1995.
[[nodiscard]] MergedGraph merge_supervariables(const Graph& graph, const std::vector<Offset>& weights);

/// Estimates, from a sample, the fraction of the vertices that merging would remove.
[[nodiscard]] double share_to_merge(const Graph& graph);

}  // namespace workbench
