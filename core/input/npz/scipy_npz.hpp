// Reader of the files that scipy.sparse.save_npz writes.
#pragma once

#include <filesystem>
#include <memory>

#include "core/input/npz/read_rows.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a CSR, CSC or COO matrix; members are compressed or stored, indices have any integer type, values are f32, f64,
/// integer or bool. Duplicate entries are summed, explicit zeros are kept, integers that f64 would round are refused. Throws
/// InputError "FILE: member NAME.npy: what was found; what was expected", also for sizes that the file cannot contain.
[[nodiscard]] CsrMatrix read_scipy_npz(const std::filesystem::path& path);

/// Opens a CSR matrix for reading by rows; null if the file has another format. Keeps 8 bytes per row. Rows that are never read
/// are not checked.
[[nodiscard]] std::unique_ptr<RowReader> open_scipy_npz_rows(const std::filesystem::path& path);

}  // namespace workbench
