// Shares of the nonzeros, each with its own order of storage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The property that the nonzeros of a share have in common.
enum class ShareKind : std::uint8_t {
    all,               // the only share of a matrix that is not split
    inside,            // row and column are in the same partition
    outside,           // row and column are in different partitions
    first,             // among the first k nonzeros of the row
    rest,              // after the first k nonzeros of the row
    long_rows,         // in a row with many nonzeros
    short_rows,        // in a row with few nonzeros
    dense_diagonals,   // on a diagonal that is nearly full
    sparse_diagonals,  // on another diagonal
    dense_blocks,      // in a small square block that is nearly full
    sparse_blocks,     // in another block
    dense_columns,     // in a column with many nonzeros
    sparse_columns,    // in a column with few nonzeros
    near,              // near the main diagonal
    far,               // far from the main diagonal
    chosen,            // in chosen partitions, or with chosen values
    others,            // in other partitions, or with other values
    bin_0,             // in rows or columns before the first of several bounds
    bin_1,             // before the second bound
    bin_2,
    bin_3,
    bin_4,
    bin_5,
    bin_6,
    bin_7,
    united,   // in one of several shares that were united
    label_0,  // of this label, as a file or a program assigned it
    label_1,
    label_2,
    label_3,
    label_4,
    label_5,
    label_6,
    label_7,
    segment,  // in one segment of the columns
    tile,     // in one segment and one row block
};

/// The kinds that a split can make: all but the first.
inline constexpr auto kinds_of_shares = [] {
    std::array<ShareKind, static_cast<std::size_t>(ShareKind::tile)> kinds{};
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = static_cast<ShareKind>(i + 1);
    return kinds;
}();

/// The maximum number of bins of one split.
inline constexpr int most_share_bins = 8;

/// The share with this number, 0 to most_share_bins - 1, among the bins of a split.
[[nodiscard]] constexpr ShareKind bin(int number) {
    return static_cast<ShareKind>(static_cast<int>(ShareKind::bin_0) + number);
}

/// Returns true for segments and tiles: there are many of one kind, each at its own place.
[[nodiscard]] constexpr bool has_places(ShareKind kind) { return kind == ShareKind::segment || kind == ShareKind::tile; }

[[nodiscard]] std::string_view name_of(ShareKind kind);

/// The names of the kinds that a message lists; bin_0 represents all bins.
[[nodiscard]] std::vector<std::string> listed_kinds();
[[nodiscard]] std::vector<std::string> listed_kinds_without_places();

/// The maximum number of times that a share can be split again.
inline constexpr std::size_t most_splits_again = 7;

/// Identifies a share: its kind, its place where there are many of a kind, and the shares that it was split from.
struct ShareId {
    ShareKind kind = ShareKind::all;
    Index row_block = 0;                                   // of a tile
    Index segment = 0;                                     // of a segment or a tile
    std::array<ShareKind, most_splits_again> within = {};  // its ancestors, outermost first, padded with `all`

    [[nodiscard]] bool is_split_again() const { return within.front() != ShareKind::all; }

    friend bool operator==(const ShareId&, const ShareId&) = default;
};

/// "outside", "segment 3", "tile 0,1"; "short/first": the first nonzeros of the rows of share "short".
[[nodiscard]] std::string name_of(const ShareId& id);

/// The share that results from splitting `parent`, where `all` is the whole matrix. None if the nesting is too deep, or if
/// either kind has places.
[[nodiscard]] std::optional<ShareId> share_within(const ShareId& parent, ShareKind kind);

/// The shares that a recipe or a layout selects: all shares of a kind, or one of them.
struct ShareChoice {
    ShareKind kind = ShareKind::all;
    std::optional<ShareId> one = {};  // if none, every share of the kind that was not split from another share

    [[nodiscard]] bool includes(const ShareId& id) const { return one ? id == *one : id.kind == kind && !id.is_split_again(); }

    friend bool operator==(const ShareChoice&, const ShareChoice&) = default;
};

/// "tile", "tile 0,1".
[[nodiscard]] std::string name_of(const ShareChoice& choice);

/// The shares that a text such as "tile" or "tile 0,1" selects; none if the text is malformed.
[[nodiscard]] std::optional<ShareChoice> share_choice(std::string_view words);

/// The single share that a text selects; none if it is malformed, or if its kind has places.
[[nodiscard]] std::optional<ShareId> single_share(std::string_view words);

/// A share of the nonzeros. It lists only the rows that are present in it, in the order in which they are stored, so a share
/// with few rows is small whatever the size of the matrix.
struct Share {
    ShareId id = {};
    HostArray<Index> rows = {};        // [rows present] their numbers in the current order of the matrix
    HostArray<Offset> row_offsets{0};  // [rows present + 1] into entries
    HostArray<Offset> entries = {};    // positions in CsrMatrix::values; ascending within a row

    friend bool operator==(const Share&, const Share&) = default;
};

/// The share with its rows stored in another order: row i of the result is stored row old_of_new[i] of the share.
[[nodiscard]] Share reorder_rows(const Share& share, std::span<const Index> old_of_new);

/// The shares that a share was split into, in their order; none if it was not split.
[[nodiscard]] std::vector<const Share*> parts_of(const ShareId& id, std::span<const Share> shares);

/// One share with the entries of several that have none in common. Its rows are in the order in which the parts list them
/// first. rows: number of rows of the matrix.
[[nodiscard]] Share unite(const ShareId& id, std::span<const Share* const> parts, Index rows);

/// A view of a share, or of a whole matrix as one share with all rows in order. The matrix or share must outlive the view.
class ShareView {
public:
    explicit ShareView(const CsrMatrix& whole);
    explicit ShareView(const Share& share);

    /// Returns true for a view of a whole matrix.
    [[nodiscard]] bool is_whole() const { return rows_ == nullptr && entries_ == nullptr; }
    [[nodiscard]] Index row_count() const { return row_count_; }
    [[nodiscard]] Offset entry_count() const { return offsets_[row_count_]; }
    /// The number in the matrix of a stored row.
    [[nodiscard]] Index row(Index stored) const { return rows_ == nullptr ? stored : rows_[stored]; }
    [[nodiscard]] Offset length(Index stored) const { return offsets_[stored + 1] - offsets_[stored]; }
    /// The k-th entry of a stored row, as a position in CsrMatrix::values.
    [[nodiscard]] Offset entry(Index stored, Offset k) const {
        const Offset position = offsets_[stored] + k;
        return entries_ == nullptr ? position : entries_[position];
    }

    /// [row_count]; empty for a view of a whole matrix.
    [[nodiscard]] std::span<const Index> rows() const { return {rows_, rows_ == nullptr ? 0 : std::size_t(row_count_)}; }
    /// [row_count + 1]
    [[nodiscard]] std::span<const Offset> offsets() const { return {offsets_, static_cast<std::size_t>(row_count_) + 1}; }
    /// [entry_count]; empty for a view of a whole matrix.
    [[nodiscard]] std::span<const Offset> entries() const {
        return {entries_, entries_ == nullptr ? 0 : std::size_t(entry_count())};
    }

private:
    Index row_count_ = 0;
    const Index* rows_ = nullptr;  // null in a view of a whole matrix
    const Offset* offsets_ = nullptr;
    const Offset* entries_ = nullptr;  // null in a view of a whole matrix
};

}  // namespace workbench
