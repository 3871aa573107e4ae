// METIS, called safely.
#pragma once

#include <metis.h>

#include <string_view>
#include <vector>

#include "stages/graph.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {

/// A graph as METIS takes it: without the vertices that have no edges. METIS cannot match those when it makes the graph
/// coarser; the rest is partitioned much better without them.
struct MetisGraph {
    std::vector<Index> vertices;  // of the whole graph
    std::vector<idx_t> offsets{0};
    std::vector<idx_t> neighbours;
    std::vector<idx_t> edge_weights;  // of neighbours; empty: all 1
    std::vector<idx_t> weights;       // of vertices
};

/// Weights are scaled down where METIS could not add them up. Throws InputError where there are more ends of edges than METIS
/// counts; `stage` is who asks.
[[nodiscard]] MetisGraph metis_graph(const Graph& graph, const std::vector<Offset>& weights, std::string_view stage);
[[nodiscard]] MetisGraph metis_graph(const WeightedGraph& graph, std::string_view stage);

struct MetisOptions {
    bool recursive = false;   // multilevel recursive bisection instead of multilevel k-way partitioning
    double imbalance = 1.03;  // heaviest part over the mean, at least one vertex more
    Index seed = 1;
};

/// Calls METIS for 2 parts or more, fewer than vertices. Writes the part of each vertex that has edges; returns the edge cut.
/// Throws MachineError where memory runs out. METIS has one thread, and random numbers that are those of the whole process.
Offset partition_with_metis(MetisGraph graph, Index parts, const MetisOptions& options, std::string_view stage,
                            std::vector<Index>& part_of);

}  // namespace workbench
