// Reads a matrix or a vector from a file of any supported format.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

struct ReadOptions {
    // File in an archive, variable of a MATLAB file, such as Problem.A, or group of an HDF5 file. Empty: the only matrix,
    // NAME.mtx of NAME.tar.gz, or Problem.A.
    std::string member = {};
    // Receives notes about the matrix, such as that its integers are rounded.
    std::function<void(const std::string&)> note = {};
};

/// Reads a Matrix Market, Rutherford-Boeing or METIS text, possibly compressed (gzip, xz, zstd) or in a tar archive, a scipy
/// .npz, a MATLAB file, or an HDF5 file with the Binsparse format. The content determines the format, not the name. Throws
/// InputError, and MachineError with the bytes needed and available if memory is short.
[[nodiscard]] CsrMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads the vector of a .npy file of one dimension or one column, of a text with one number per line, possibly compressed, or
/// of a matrix with one column. `member` names a file of an archive, by default the only one that is named NAME_b.mtx, as the
/// SuiteSparse collection names right-hand sides. Throws like read_matrix.
[[nodiscard]] std::vector<double> read_vector(const std::filesystem::path& path, const std::string& member = {});

/// Likewise with 1 to `most` columns, which it returns one after another.
[[nodiscard]] std::vector<std::vector<double>> read_columns(const std::filesystem::path& path, const std::string& member,
                                                            Index most);

}  // namespace workbench
