// The small matrices that every stage and every layout must get right.
#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

struct NamedMatrix {
    std::string name;
    CsrMatrix matrix;
};

/// Empty, 1 x 1, without nonzeros, identity, one dense row, one dense column, empty rows and columns, tridiagonal, band, block,
/// skewed row lengths, random, rectangular both ways, two components, symmetric and not. Values are finite and distinct enough
/// that a misplaced entry shows.
[[nodiscard]] const std::vector<NamedMatrix>& battery();

}  // namespace workbench
