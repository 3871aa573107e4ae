// Rutherford-Boeing files, and those of their predecessor, Harwell-Boeing.
// Source: Duff, Grimes, Lewis, "The Rutherford-Boeing sparse matrix collection", RAL-TR-97-031 (1997); of the same, "Sparse
// matrix test problems", ACM Transactions on Mathematical Software 15(1), 1-14 (1989).
#pragma once

#include <string_view>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Does the third line begin with a type such as RUA, and the fourth with a Fortran format?
[[nodiscard]] bool is_rutherford_boeing(std::string_view start);

/// Reads an assembled matrix: real, integer or pattern (values 1), symmetric, skew-symmetric, unsymmetric or rectangular.
/// Complex, Hermitian and elemental ones are refused by name, and so is an entry above the diagonal where the file is said to
/// give the triangle below it. Entries at the same place are summed. Right-hand sides behind the matrix are passed over. Throws
/// InputError "FILE:LINE: what was found; what was expected", and MachineError with the bytes wanted and had.
[[nodiscard]] CsrMatrix read_rutherford_boeing(LineReader& lines);

}  // namespace workbench
