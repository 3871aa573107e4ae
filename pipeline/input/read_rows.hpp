// A matrix in a file, some rows at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/row_range.hpp"

namespace workbench {

class RowReader {
public:
    RowReader() = default;
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;
    virtual ~RowReader() = default;

    [[nodiscard]] virtual Index rows() const = 0;
    [[nodiscard]] virtual Index columns() const = 0;

    /// These rows, bit for bit as read_matrix would read them. Goes through the file anew each time; takes the memory of these
    /// rows as read_matrix takes that of all. Damage is found in what these rows are read from, and in the check sums of those
    /// members. Throws as read_matrix does, with the same words, and std::out_of_range.
    [[nodiscard]] virtual CsrMatrix read(RowRange range) const = 0;
};

/// What is not read by rows (a text, an archive, a .npz of CSC or COO, or a file that cannot be opened) gives null: read_matrix
/// reads it, or says what is wrong. Otherwise throws as read_matrix does, where sizes and row offsets are damaged already.
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, const std::string& member = {});

}  // namespace workbench
