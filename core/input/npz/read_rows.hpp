// Reads ranges of rows from a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/row_range.hpp"

namespace workbench {

class RowReader : public Interface {
public:
    [[nodiscard]] virtual Index rows() const = 0;
    [[nodiscard]] virtual Index columns() const = 0;

    /// Reads these rows, bit for bit as read_matrix does. Each call reads through the file and takes memory for these rows
    /// only. It finds damage in the arrays that it reads, including their check sums. Throws as read_matrix does, and
    /// std::out_of_range.
    [[nodiscard]] virtual CsrMatrix read(RowRange range) const = 0;
};

/// Opens a .npz with a CSR matrix; null for everything else (texts, archives, CSC, COO, files that cannot be opened), which
/// read_matrix reads or refuses. Throws as read_matrix does if sizes or row offsets are damaged.
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, const std::string& member = {});

}  // namespace workbench
