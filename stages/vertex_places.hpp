// Places for the vertices of a graph, so that it can be drawn.
#pragma once

#include <span>
#include <vector>

#include "core/contract/generator.hpp"
#include "stages/graph.hpp"

namespace workbench {

struct BoxSize {
    double width = 0;
    double height = 0;
};

struct BoxPlace {
    double left = 0;
    double top = 0;
};

/// Places boxes without overlap in an area whose width is about `aspect` times its height. Boxes are in shelves from the top
/// down, the highest first; lower boxes are stacked in columns of a shelf. O(n log n). Source: next-fit decreasing height
/// (Coffman, Garey, Johnson, Tarjan, "Performance bounds for level-oriented two-dimensional packing algorithms", SIAM J.
/// Computing 1980), with columns in the shelves.
[[nodiscard]] std::vector<BoxPlace> pack_boxes(std::span<const BoxSize> boxes, double aspect);

/// Places the vertices in the plane, z = 0, so that neighbours are a few units apart. Each connected component has a box of its
/// own (pack_boxes). In parallel, with the same result for any number of threads; 10^5 edges take about a second. Boost's
/// Fruchterman-Reingold needs a time quadratic in the vertices even with its grid. Source: Walshaw, "A multilevel algorithm for
/// force-directed graph-drawing", J. Graph Algorithms and Applications 2003.
[[nodiscard]] std::vector<NodePlace> place_vertices(const Graph& graph);

}  // namespace workbench
