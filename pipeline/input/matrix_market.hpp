// Matrix Market files.
// Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935 (1996).
#pragma once

#include <filesystem>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a coordinate file, gzip-compressed or not: field real, integer or pattern (values 1), symmetry general, symmetric or
/// skew-symmetric. Entries at the same place are summed, explicit zeros are kept, integers are rounded to f64.
/// In a symmetric file an entry of either triangle stands for its mirror image too; a file that gives every pair in both
/// triangles is refused, for it was not meant so. Throws InputError "FILE:LINE: what was found; what was expected". Memory is
/// in proportion to the entries that are there, not to those that are claimed.
[[nodiscard]] CsrMatrix read_matrix_market(const std::filesystem::path& path);

}  // namespace workbench
