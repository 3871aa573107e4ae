// The example matrix of all layouts, which many tests use.
#pragma once

#include "core/matrix/csr_matrix.hpp"
#include "support/message_of.hpp"

namespace workbench {

/// 6 x 6, with the values 1 to 13 row by row in rows of the lengths 3, 3, 1, 2, 3, 1.
[[nodiscard]] CsrMatrix drawn();

}  // namespace workbench
