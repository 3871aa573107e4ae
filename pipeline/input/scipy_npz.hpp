// Matrices saved by scipy.sparse.save_npz.
#pragma once

#include <filesystem>
#include <memory>

#include "pipeline/input/read_rows.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Reads a CSR, CSC or COO matrix; members compressed or stored, indices of any integer type, values f32, f64, integer or bool.
/// Entries at the same place are summed, explicit zeros are kept, 64-bit integers are rounded to f64.
/// Throws InputError "FILE: member NAME.npy: what was found; what was expected". Sizes are checked before they are believed.
[[nodiscard]] CsrMatrix read_scipy_npz(const std::filesystem::path& path);

/// The same of a CSR matrix, some rows at a time; null where the file holds another format. Keeps 8 bytes a row. Rows that a
/// range leaves out are not checked.
[[nodiscard]] std::unique_ptr<RowReader> open_scipy_npz_rows(const std::filesystem::path& path);

}  // namespace workbench
