// Shares of the nonzeros, each with its own order of storage.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// A named share of the nonzeros. It lists the rows present in it, in the order in which they are stored: an order of
/// storage, not a permutation of the matrix, so that a share with few rows costs little however many rows the matrix has.
struct Share {
    std::string name;
    std::vector<Index> rows;             // [present] rows of the matrix in its current order
    std::vector<Offset> row_offsets{0};  // [present + 1] into entries
    std::vector<Offset> entries;         // positions in CsrMatrix::values; ascending within a row

    friend bool operator==(const Share&, const Share&) = default;
};

/// The same share with its rows stored in another order: row i of the result is stored row old_of_new[i] of the share.
[[nodiscard]] Share reorder_rows(const Share& share, std::span<const Index> old_of_new);

/// Reads a share, or a whole matrix as if it were one share with all rows in order, without copying anything.
/// The matrix or share must outlive the view.
class ShareView {
public:
    explicit ShareView(const CsrMatrix& whole);
    explicit ShareView(const Share& share);

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
