// Places for the vertices of a graph, so that it can be drawn.
#pragma once

#include <vector>

#include "core/contract/generator.hpp"
#include "stages/graph.hpp"

namespace workbench {

/// Places the vertices in the plane, z = 0, so that neighbours are a few units apart. Each connected component has a box of its
/// own (pack_boxes). In parallel, with the same result for any number of threads; 10^5 edges take about a second. Boost's
/// Fruchterman-Reingold needs a time quadratic in the vertices even with its grid. Source: Walshaw, "A multilevel algorithm for
/// force-directed graph-drawing", J. Graph Algorithms and Applications 2003.
[[nodiscard]] std::vector<NodePlace> place_vertices(const Graph& graph);

}  // namespace workbench
