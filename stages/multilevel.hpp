// Graph partitioning by many threads around METIS.
#pragma once

#include <string_view>
#include <vector>

#include "stages/metis_graph.hpp"

namespace workbench {

struct MultilevelOptions {
    MetisOptions metis;            // for the coarsest graph
    Index vertices_a_part = 20;    // METIS partitions a graph of about so many vertices for each part ...
    Offset least_vertices = 2000;  // ... and of no fewer than so many
};

struct MultilevelResult {
    Offset cut = 0;               // the sum of the weights of the edges between parts
    std::vector<Index> levels{};  // the vertices of each graph that was partitioned, the finest first
};

/// Partitions the vertices that have edges in 2 parts or more, fewer than there are such vertices. Merges those with the same
/// neighbours where that makes the graph smaller; makes it coarser until it is small; has METIS partition what is left; and
/// brings the parts back, improving them on each level. A small graph is METIS's alone. Writes the part of each vertex that has
/// edges. The same for any number of threads. Throws as partition_with_metis does. Source: Karypis, Kumar, "Multilevel k-way
/// partitioning scheme for irregular graphs" (1998); for the steps see supervariables.hpp, coarsen_graph.hpp and
/// refine_partition.hpp.
MultilevelResult partition_in_levels(const Graph& graph, const std::vector<Offset>& weights, Index parts,
                                     const MultilevelOptions& options, std::string_view stage, std::vector<Index>& part_of);

}  // namespace workbench
