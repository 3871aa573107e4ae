// A matrix from a file of any kind that the workbench reads.
#pragma once

#include <filesystem>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a Matrix Market file, gzip-compressed or not, or a scipy .npz; the kind is told by the content, whatever the name.
/// Throws InputError.
[[nodiscard]] CsrMatrix read_matrix(const std::filesystem::path& path);

}  // namespace workbench
