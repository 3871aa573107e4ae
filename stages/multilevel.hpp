// Parallel multilevel graph partitioning, with METIS for the coarsest graph.
#pragma once

#include <string_view>
#include <vector>

#include "stages/metis_graph.hpp"

namespace workbench {

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
