// Parallel multilevel graph partitioning, with METIS for the coarsest graph.
#pragma once

#include <string_view>
#include <vector>

#include "stages/graph.hpp"
#include "stages/metis_graph.hpp"
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

struct MultilevelOptions {
    MetisOptions metis = {};       // for the coarsest graph
    Index vertices_a_part = 20;    // of the coarsest graph, approximately
    Offset least_vertices = 2000;  // the coarsest graph has at least this many vertices
};

/// Partitions the vertices that have edges into 2 parts or more, fewer than there are such vertices. Merges vertices with the
/// same neighbours if that makes the graph smaller, coarsens the graph until it is small, has METIS partition the coarsest
/// graph, and projects the parts back with a refinement on each level. Small graphs are left to METIS. The same result for any
/// number of threads. Throws like partition_with_metis. Source: Karypis, Kumar, "Multilevel k-way partitioning scheme for
/// irregular graphs", J. Parallel and Distributed Computing 1998; see supervariables.hpp, coarsen_graph.hpp and
/// refine_partition.hpp for the steps.
[[nodiscard]] FoundPartition partition_in_levels(const Graph& graph, const std::vector<Offset>& weights, Index parts,
                                                 const MultilevelOptions& options, std::string_view stage);

}  // namespace workbench
