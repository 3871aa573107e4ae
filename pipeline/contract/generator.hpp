// What a generator promises: a matrix made from a few numbers, the same to the bit on every machine.
#pragma once

#include <string>
#include <vector>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/row_range.hpp"

namespace workbench {

/// One kind of generated matrix, as the catalogue lists it.
struct GeneratorEntry {
    std::string name;
    std::string summary;
    std::vector<ParameterDeclaration> parameters;

    /// Throws InputError where there would be 2^31 rows or more, ParameterError where values do not go together, and
    /// MachineError with the bytes wanted and had where the machine lacks the memory.
    CsrMatrix (*generate)(const Parameters&) = nullptr;

    /// Rows of the matrix, without making it; and some of them, the same to the bit as in the whole matrix, with all columns.
    /// They take the memory of these rows alone, and where the nodes of a grid are scrambled 8 bytes for each node of the
    /// whole. Both throw as `generate` does, where the range is not of these rows std::out_of_range. Both are null where a
    /// matrix can only be made whole: `rmat`, `delaunay`, `finite_volume`.
    Index (*row_count)(const Parameters&) = nullptr;
    CsrMatrix (*generate_rows)(const Parameters&, RowRange) = nullptr;
};

}  // namespace workbench
