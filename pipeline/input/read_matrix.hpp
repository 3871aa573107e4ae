// A matrix from a file of any kind that the workbench reads.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

struct ReadOptions {
    std::string member;  // of an archive: which file in it; empty: the only matrix, or NAME.mtx of NAME.tar.gz
};

/// Reads a Matrix Market, Rutherford-Boeing or METIS text, also compressed (gzip, xz, zstd), in a tar archive, or both, or a
/// scipy .npz; the kind is told by the content, whatever the name. Throws InputError, and MachineError with the bytes wanted
/// and had where the machine lacks the memory.
[[nodiscard]] CsrMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace workbench
