// Writer of Matrix Market files.
#pragma once

#include "core/matrix/csr_matrix.hpp"
#include "core/output/text_blocks.hpp"

namespace workbench {

/// Appends a real, general coordinate file with the entries row by row. Each value is the shortest decimal that reads back as
/// the same f64. NaN and infinities are written as "nan", "-nan", "inf" and "-inf", which Python, C and this program read; the
/// payload of a NaN is lost.
void write_matrix_market(WholeFile& file, const CsrMatrix& matrix, Compression compression = Compression::none);

}  // namespace workbench
