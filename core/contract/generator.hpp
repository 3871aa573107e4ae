// The contract of a generator: a matrix made from a few parameters, bit-identical on every machine.
#pragma once

#include <string>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/row_range.hpp"

namespace workbench {

/// The place of a row's node, in multiples of about the distance of two neighbours.
struct NodePlace {
    double x = 0;
    double y = 0;
    double z = 0;  // 0 in the plane
};

/// A generator, as the catalogue lists it.
struct GeneratorEntry {
    std::string name;
    std::string summary;
    std::vector<ParameterDeclaration> parameters;

    /// Throws InputError for 2^31 rows or more, ParameterError where values contradict each other, and MachineError with the
    /// required and the free bytes where memory is short.
    CsrMatrix (*generate)(const Parameters&) = nullptr;

    /// The number of rows, and a range of rows with all columns, bit-identical to those of the whole matrix. The range needs
    /// memory for its own rows only, plus 8 bytes per node of a grid whose nodes are scrambled. Both throw like `generate`, and
    /// std::out_of_range for a range outside of the matrix. Both are null for generators that can only make the whole matrix:
    /// `rmat`, `delaunay`, `finite_volume`.
    Index (*row_count)(const Parameters&) = nullptr;
    CsrMatrix (*generate_rows)(const Parameters&, RowRange) = nullptr;

    /// The place of each row. Null for matrices that are not of a mesh.
    std::vector<NodePlace> (*places)(const Parameters&) = nullptr;
};

}  // namespace workbench
