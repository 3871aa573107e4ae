// Matrix Market files.
// Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935 (1996).
#pragma once

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a coordinate or array file: field real, integer or pattern (values 1), symmetry general, symmetric or
/// skew-symmetric. Entries at the same place are summed in the order of the file, explicit zeros are kept (so that all places
/// of an array are entries), integers are rounded to f64. In a symmetric coordinate file an entry of either triangle stands for
/// its mirror image too; a file that gives every pair in both triangles is refused. Throws InputError
/// "FILE:LINE: what was found; what was expected", and MachineError with the bytes wanted and had. Memory is in proportion to
/// what is there, not to what is claimed.
[[nodiscard]] CsrMatrix read_matrix_market(LineReader& lines);

}  // namespace workbench
