// Matrices generated from a few parameters.
#pragma once

#include <vector>

#include "core/contract/generator.hpp"

namespace workbench {

/// All generators. `laplace2d` (5 points), `laplace3d` (7 or 27 points) and `elasticity3d` (3 unknowns per node) are regular
/// grids with Dirichlet boundaries, eliminated, so that every row has the same stencil, cut off at the boundary. `delaunay` is
/// the Laplace operator on an unstructured triangulation, `finite_volume` diffusion or convection on polyhedral cells.
/// `banded` and `random_laplacian` are random. All of these are symmetric positive definite, except `finite_volume` with
/// convection. `random_uniform` and `random_normal` have rows of random lengths; `rmat` is a graph with a few vertices of high
/// degree. Values are small integers, exact in f32, except in `delaunay` and `finite_volume`.
[[nodiscard]] std::vector<GeneratorEntry> generators();

}  // namespace workbench
