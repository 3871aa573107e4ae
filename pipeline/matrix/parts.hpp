// Shares of the nonzeros, each with its own order of storage.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// A named share of the nonzeros. It lists the rows present in it, in the order in which they are stored: an order of
/// storage, not a permutation of the matrix, so that a part with few rows costs little however many rows the matrix has.
struct Part {
    std::string name;
    std::vector<Index> rows;             // [present] rows of the matrix in its current order
    std::vector<Offset> row_offsets{0};  // [present + 1] into entries
    std::vector<Offset> entries;         // positions in CsrMatrix::values; ascending within a row

    friend bool operator==(const Part&, const Part&) = default;
};

/// The same share with its rows stored in another order: row i of the result is stored row old_of_new[i] of the part.
[[nodiscard]] Part reorder_rows(const Part& part, std::span<const Index> old_of_new);

/// Reads a part, or a whole matrix as if it were one part with all rows in order, without copying anything.
/// The matrix or part must outlive the view.
class PartView {
public:
    explicit PartView(const CsrMatrix& whole);
    explicit PartView(const Part& part);

    /// Every row and every entry, in order?
    [[nodiscard]] bool is_whole() const { return rows_ == nullptr && entries_ == nullptr; }
    /// Rows present.
    [[nodiscard]] Index row_count() const { return row_count_; }
    [[nodiscard]] Offset entry_count() const { return offsets_[row_count_]; }
    /// The row of the matrix that is stored at this place.
    [[nodiscard]] Index row(Index stored) const { return rows_ == nullptr ? stored : rows_[stored]; }
    [[nodiscard]] Offset length(Index stored) const { return offsets_[stored + 1] - offsets_[stored]; }
    /// The k-th entry of the row stored at this place, as a position in CsrMatrix::values.
    [[nodiscard]] Offset entry(Index stored, Offset k) const {
        const Offset position = offsets_[stored] + k;
        return entries_ == nullptr ? position : entries_[position];
    }

private:
    Index row_count_ = 0;
    const Index* rows_ = nullptr;  // null: every row, in order
    const Offset* offsets_ = nullptr;
    const Offset* entries_ = nullptr;  // null: every entry, in order
};

}  // namespace workbench
