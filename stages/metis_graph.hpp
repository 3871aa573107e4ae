// A safe interface to METIS.
#pragma once

#include <metis.h>

#include <string_view>
#include <vector>

#include "stages/graph.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {

/// A graph for METIS, without the vertices that have no edges: METIS cannot match those when it coarsens the graph, and
/// partitions the rest much better without them.
struct MetisGraph {
    std::string_view stage = {};       // the stage that calls METIS, for error messages
    Index whole_count = 0;             // vertices of the whole graph
    std::vector<Index> vertices = {};  // their numbers in the whole graph
    std::vector<idx_t> offsets{0};
    std::vector<idx_t> neighbours = {};
    std::vector<idx_t> edge_weights = {};  // of neighbours; empty: all are 1
    std::vector<idx_t> weights = {};       // of vertices; empty: all are 1
};

/// Weights are scaled down if METIS could not add them up; empty weights are all 1. Throws InputError if there are more edge
/// ends than METIS can count.
[[nodiscard]] MetisGraph metis_graph(const Graph& graph, const std::vector<Offset>& weights, std::string_view stage);
[[nodiscard]] MetisGraph metis_graph(const WeightedGraph& graph, std::string_view stage);

struct MetisOptions {
    bool recursive = false;   // multilevel recursive bisection instead of multilevel k-way partitioning
    double imbalance = 1.03;  // heaviest part over the mean, at least one vertex more
    Index seed = 1;
};

struct FoundPartition {
    std::vector<Index> part_of = {};  // [vertices of the whole graph] -1 for vertices without edges
    Offset cut = 0;                   // the sum of the weights of the edges between parts
    std::vector<Index> levels = {};   // of a multilevel partition: the number of vertices of each graph, finest first
};

/// Partitions a graph into 2 parts or more, fewer than vertices. Throws MachineError if memory is short. METIS is serial, and
/// uses the random number generator of the process.
[[nodiscard]] FoundPartition partition_with_metis(MetisGraph graph, Index parts, const MetisOptions& options);

/// A nested dissection order of the vertices, as numbers of the whole graph. Throws MachineError if memory is short.
[[nodiscard]] std::vector<Index> dissect_with_metis(MetisGraph graph, Index seed);

}  // namespace workbench
