// Matrices made from a few numbers.
#pragma once

#include <vector>

#include "pipeline/contract/generator.hpp"

namespace workbench {

/// `laplace2d` (5 points), `laplace3d` (7 or 27 points), `elasticity3d` (3 unknowns a node): regular grids whose boundary is
/// held fixed and left out, so that every row has the same stencil, cut off at the boundary. `delaunay`: the Laplace operator
/// on an unstructured triangulation. `finite_volume`: diffusion on polyhedral cells in space. `banded`. All of these are
/// symmetric positive definite, but for `finite_volume` with convection. `random_uniform`, `random_normal`: rows of random
/// lengths. `rmat`: a graph with a few vertices of high degree. Values are small integers, exact in f32 too, except those of
/// `delaunay` and `finite_volume`.
[[nodiscard]] std::vector<GeneratorEntry> generators();

}  // namespace workbench
