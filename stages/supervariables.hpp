// Rows that no partitioning need tell apart, merged before it begins.
#pragma once

#include <vector>

#include "stages/graph.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {

/// A graph, and the vertex of it that each vertex of a larger one became.
struct MergedGraph {
    WeightedGraph graph;
    std::vector<Index> vertex_of;  // [vertices of the larger graph] -1: left out
};

/// Merges the vertices that have the same neighbours, each counted among its own: the unknowns of a mesh node, whose rows have
/// one pattern. Weights of vertices add up, and an edge weighs as much as the edges that it stands for, so that a partition
/// cuts the same here and there. Vertices without edges are left out. The merged vertices are in the order of their first ones.
/// In parallel, the same for any number of threads; patterns are compared, not only their hashes.
/// Source: supervariables of Duff, Reid (1983), indistinguishable nodes of George, Liu (1981), found by hash after
/// Ashcraft, "Compressed graphs and the minimum degree algorithm" (1995).
[[nodiscard]] MergedGraph merge_supervariables(const Graph& graph, const std::vector<Offset>& weights);

/// The share of the vertices that merging would take away, from a sample of them.
[[nodiscard]] double share_to_merge(const Graph& graph);

}  // namespace workbench
