// Moves vertices between the parts of a graph partition until no part exceeds its capacity.
#pragma once

#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// The number of edges between different parts.
[[nodiscard]] Offset edge_cut(const Graph& graph, const std::vector<Index>& part_of);

/// Moves vertices until no part has more than `capacity` vertices, where parts * capacity >= vertices. A greedy heuristic for a
/// small edge cut: from an overfull part to the nearest part below capacity, it moves one vertex across each border on the
/// path, the one with the most neighbours beyond the border and the fewest on its own side. Vertices without edges are assigned
/// last, each to the smallest part, whatever part_of says; for all others part_of must be in 0 .. parts - 1. Deterministic.
void fit_partition(const Graph& graph, std::vector<Index>& part_of, Index parts, Index capacity);

}  // namespace workbench
