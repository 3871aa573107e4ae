// What a generator promises: a matrix made from a few numbers, the same to the bit on every machine.
#pragma once

#include <string>
#include <vector>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// One kind of generated matrix, as the catalogue lists it.
struct GeneratorEntry {
    std::string name;
    std::string summary;
    std::vector<ParameterDeclaration> parameters;

    /// Throws InputError where there would be 2^31 rows or more, ParameterError where values do not go together, and
    /// MachineError with the bytes wanted and had where the machine lacks the memory.
    CsrMatrix (*generate)(const Parameters&) = nullptr;
};

}  // namespace workbench
