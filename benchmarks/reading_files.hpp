// Writers of the formats that the workbench only reads.
#pragma once

#include <filesystem>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// A real unsymmetric matrix with values of 17 digits in columns of fixed width. The values must be finite.
void write_rutherford_boeing(const std::filesystem::path& path, const CsrMatrix& matrix);

/// The off-diagonal pattern without weights. It must be symmetric.
void write_metis_graph(const std::filesystem::path& path, const CsrMatrix& matrix);

}  // namespace workbench
