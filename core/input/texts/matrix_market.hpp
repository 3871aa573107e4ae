// Reader of Matrix Market files.
// Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935 (1996).
#pragma once

#include "core/input/texts/line_reader.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a coordinate or array file: field real, integer (or unsigned-integer) or pattern (values 1); symmetry general,
/// symmetric or skew-symmetric. Duplicate entries are summed in the order of the file, explicit zeros are kept (every place of
/// an array is an entry), and integers that f64 does not contain are rounded, with a note. A symmetric coordinate file may list
/// entries of either triangle, but not of both. Throws InputError "FILE:LINE: what was found; what was expected", and
/// MachineError with the bytes needed and available. Memory is proportional to the entries that exist, not to the claimed size.
[[nodiscard]] CsrMatrix read_matrix_market(LineReader& lines);

}  // namespace workbench
