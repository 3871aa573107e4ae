// Moves vertices between the parts of a graph partition until no part is too large.
#pragma once

#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// The edges between vertices of different parts.
[[nodiscard]] Offset edge_cut(const Graph& graph, const std::vector<Index>& part_of);

/// Moves vertices until no part has more than `capacity`; parts x capacity >= vertices. Takes the moves that add least to the
/// edge cut: from a part that is too full to the nearest part with room, one vertex across each border on the way, each time
/// the one with most neighbours beyond the border and fewest on this side. Vertices without edges cost nothing anywhere: they
/// are dealt out last, always to the smallest part, and part_of need not say anything about them. For the others
/// part_of[vertex] is in 0 .. parts - 1. The same for the same input everywhere.
void fit_partition(const Graph& graph, std::vector<Index>& part_of, Index parts, Index capacity);

}  // namespace workbench
