// Small matrices on which every stage and every layout must be correct.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

struct NamedMatrix {
    std::string name;
    CsrMatrix matrix;
};

/// Empty, 1 x 1, without nonzeros, identity, one dense row, one dense column, empty rows and columns, tridiagonal, band, block,
/// skewed row lengths, random, wide and tall, two components, symmetric and unsymmetric. Values are finite, and distinct enough
/// to reveal a misplaced entry.
[[nodiscard]] const std::vector<NamedMatrix>& battery();

}  // namespace workbench
