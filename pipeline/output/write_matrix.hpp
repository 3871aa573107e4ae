// A matrix to a file of any kind that the workbench writes.
#pragma once

#include <filesystem>

#include "pipeline/contract/whole_file.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

enum class MatrixFormat { matrix_market, matrix_market_gzip, scipy_npz };

/// By the name's ending: .mtx, .mtx.gz, .npz. Throws RecipeError, a mistake of the command line, where it has none of these.
[[nodiscard]] MatrixFormat matrix_format_of(const std::filesystem::path& path);

/// Appends the matrix; reading the file gives it back bit for bit (for NaN see write_matrix_market).
void write_matrix(WholeFile& file, MatrixFormat format, const CsrMatrix& matrix);

}  // namespace workbench
