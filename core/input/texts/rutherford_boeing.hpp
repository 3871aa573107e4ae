// Reader of Rutherford-Boeing files and of their predecessor, Harwell-Boeing.
// Source: Duff, Grimes, Lewis, "The Rutherford-Boeing sparse matrix collection", RAL-TR-97-031 (1997), and "Sparse matrix
// test problems", ACM Transactions on Mathematical Software 15(1), 1-14 (1989).
#pragma once

#include <string_view>

#include "core/input/texts/line_reader.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// True if the third line begins with a type such as RUA and the fourth with a Fortran format.
[[nodiscard]] bool is_rutherford_boeing(std::string_view start);

/// Reads an assembled matrix: real, integer or pattern (values 1); symmetric, skew-symmetric, unsymmetric or rectangular.
/// Refuses complex, Hermitian and elemental matrices, and entries above the diagonal of a (skew-)symmetric one. Duplicate
/// entries are summed; right-hand sides after the matrix are ignored. Throws InputError "FILE:LINE: what was found; what was
/// expected", and MachineError with the bytes needed and available.
[[nodiscard]] CsrMatrix read_rutherford_boeing(LineReader& lines);

}  // namespace workbench
