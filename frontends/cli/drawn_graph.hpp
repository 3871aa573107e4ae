// The graph of a matrix for pictures and pages: its edges, and the places of its vertices.
#pragma once

#include <optional>

#include "pipeline/recipe/recipe.hpp"
#include "viz/graph_view.hpp"

namespace workbench {

/// Vertices are at the places of the generator's mesh, or else where their edges pull them. Throws InputError unless the matrix
/// is square with at most most_graph_edges edges.
[[nodiscard]] GraphView drawn_graph(const MatrixChoice& choice, const CsrMatrix& matrix);

/// The places of drawn_graph for a page that contains every nonzero; empty for other matrices, and if finding the places takes
/// longer than `quick` allows: only those of a mesh and of small graphs do not.
[[nodiscard]] std::vector<Point> page_places(const MatrixChoice& choice, const CsrMatrix& matrix, bool quick);

}  // namespace workbench
