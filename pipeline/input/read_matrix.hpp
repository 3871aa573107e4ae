// Reads a matrix from a file of any supported format.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

struct ReadOptions {
    std::string member;  // file in an archive; empty: the only matrix, or NAME.mtx of NAME.tar.gz
};

/// Reads a Matrix Market, Rutherford-Boeing or METIS text, possibly compressed (gzip, xz, zstd) or in a tar archive, or a scipy
/// .npz. The content determines the format, not the name. Throws InputError, and MachineError with the bytes needed and
/// available if memory is short.
[[nodiscard]] CsrMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace workbench
