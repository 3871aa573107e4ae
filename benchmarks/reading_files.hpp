// A matrix as files of the kinds that the workbench reads and does not write: for reading.cpp alone.
#pragma once

#include <filesystem>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Real, unsymmetric, in columns of fixed width: values of 17 digits, which must be finite.
void write_rutherford_boeing(const std::filesystem::path& path, const CsrMatrix& matrix);

/// The pattern off the diagonal, which must be symmetric, without weights.
void write_metis_graph(const std::filesystem::path& path, const CsrMatrix& matrix);

}  // namespace workbench
