// Matrices as Matrix Market files.
#pragma once

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/output/text_blocks.hpp"

namespace workbench {

/// Appends a coordinate file, real and general, its entries row by row. Every value is the shortest decimal that reads back as
/// the same f64; NaN and infinities are "nan", "-nan", "inf" and "-inf", as Python, C and this program read them. What a NaN
/// carries besides its sign has no text and is lost.
void write_matrix_market(WholeFile& file, const CsrMatrix& matrix, Compression compression = Compression::none);

}  // namespace workbench
