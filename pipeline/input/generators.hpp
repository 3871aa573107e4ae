// Matrices made from a few numbers, the same to the bit on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// One kind of generated matrix.
struct GeneratorEntry {
    std::string name;
    std::string summary;
    std::vector<ParameterDeclaration> parameters;

    /// Throws InputError where there would be 2^31 rows or more, ParameterError where values do not go together, and
    /// MachineError with the bytes wanted and had where the machine lacks the memory.
    CsrMatrix (*generate)(const Parameters&) = nullptr;
};

/// `laplace2d` (5 points), `laplace3d` (7 or 27 points), `elasticity3d` (3 unknowns a node): regular grids whose boundary is
/// held fixed and left out, so that every row has the same stencil, cut off at the boundary. `delaunay`: the Laplace operator
/// on an unstructured triangulation. `banded`. All of these are symmetric positive definite. `random_uniform`, `random_normal`:
/// rows of random lengths. `rmat`: a graph with a few vertices of high degree. Values are small integers, exact in f32 too,
/// except those of `delaunay`.
[[nodiscard]] const std::vector<GeneratorEntry>& generators();

/// Null where there is none of that name.
[[nodiscard]] const GeneratorEntry* find_generator(std::string_view name);

}  // namespace workbench
