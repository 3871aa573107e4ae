// Reads a matrix from a file of any supported format.
#pragma once

#include <filesystem>
#include <string>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

struct ReadOptions {
    // File in an archive, variable of a MATLAB file, such as Problem.A, or group of an HDF5 file. Empty: the only matrix,
    // NAME.mtx of NAME.tar.gz, or Problem.A.
    std::string member;
};

/// Reads a Matrix Market, Rutherford-Boeing or METIS text, possibly compressed (gzip, xz, zstd) or in a tar archive, a scipy
/// .npz, a MATLAB file, or an HDF5 file with the Binsparse format. The content determines the format, not the name. Throws
/// InputError, and MachineError with the bytes needed and available if memory is short.
[[nodiscard]] CsrMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace workbench
