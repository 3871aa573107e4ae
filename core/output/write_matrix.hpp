// Writes a matrix to a file of any supported format.
#pragma once

#include <filesystem>

#include "core/matrix/csr_matrix.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

enum class MatrixFormat { matrix_market, matrix_market_gzip, scipy_npz, matlab, binsparse };

/// The endings of names that matrix_format_of accepts.
inline constexpr const char* written_files = ".mtx, .mtx.gz, .npz, .mat or .h5";

/// The format for a name with one of these endings. Throws RecipeError (a bad command line) for other names.
[[nodiscard]] MatrixFormat matrix_format_of(const std::filesystem::path& path);

/// Appends the matrix. Reading the file returns it bit for bit, except for NaN payloads in Matrix Market files. A MATLAB file
/// calls it A; in an HDF5 file it is the root group.
void write_matrix(WholeFile& file, MatrixFormat format, const CsrMatrix& matrix);

}  // namespace workbench
