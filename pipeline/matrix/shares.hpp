// Shares of the nonzeros, each with its own order of storage.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// What the nonzeros of a share have in common.
enum class ShareKind : std::uint8_t {
    all,               // nothing: they are not split
    inside,            // row and column lie in one partition
    outside,           // they do not
    first,             // they are the first of their row
    rest,              // they are those after the first
    long_rows,         // their row has many
    short_rows,        // it has few
    dense_diagonals,   // their diagonal is nearly full
    sparse_diagonals,  // it is not
    dense_blocks,      // their small square block is nearly full
    sparse_blocks,     // it is not
    dense_columns,     // their column has many
    sparse_columns,    // it has few
    near,              // they are near the main diagonal
    far,               // they are not
    segment,           // their columns lie in one segment
    tile,              // so they do, and their rows in one row block
};

/// The kinds that a split can make.
inline constexpr std::array kinds_of_shares = {
    ShareKind::inside,       ShareKind::outside,       ShareKind::first,           ShareKind::rest,
    ShareKind::long_rows,    ShareKind::short_rows,    ShareKind::dense_diagonals, ShareKind::sparse_diagonals,
    ShareKind::dense_blocks, ShareKind::sparse_blocks, ShareKind::dense_columns,   ShareKind::sparse_columns,
    ShareKind::near,         ShareKind::far,           ShareKind::segment,         ShareKind::tile};

/// Segments and tiles: as many as the cuts make, each at a place of its own.
[[nodiscard]] constexpr bool has_places(ShareKind kind) { return kind == ShareKind::segment || kind == ShareKind::tile; }

[[nodiscard]] std::string_view name_of(ShareKind kind);

/// How often a share can be split again.
inline constexpr std::size_t most_splits_again = 7;

/// Which share it is: of segments and tiles there may be many, each at a place of its own; a share that was split from another
/// one knows that, too.
struct ShareId {
    ShareKind kind = ShareKind::all;
    Index row_block = 0;                                   // of a tile
    Index segment = 0;                                     // of a segment or a tile
    std::array<ShareKind, most_splits_again> within = {};  // what it was split from, the outermost first, `all` after the last

    [[nodiscard]] bool is_split_again() const { return within.front() != ShareKind::all; }

    friend bool operator==(const ShareId&, const ShareId&) = default;
};

/// "outside", "segment 3", "tile 0,1"; "short/first": the first nonzeros of the rows of share "short".
[[nodiscard]] std::string name_of(const ShareId& id);

/// A share that another one is split into. None where that is too deep, or has places. `all` is the whole matrix.
[[nodiscard]] std::optional<ShareId> share_within(const ShareId& parent, ShareKind kind);

/// The shares that a recipe or a layout speaks of: every one of a kind, or one of them.
struct ShareChoice {
    ShareKind kind = ShareKind::all;
    std::optional<ShareId> one = {};  // none: every share of the kind that was not split from another

    [[nodiscard]] bool includes(const ShareId& id) const { return one ? id == *one : id.kind == kind && !id.is_split_again(); }

    friend bool operator==(const ShareChoice&, const ShareChoice&) = default;
};

/// "tile", "tile 0,1".
[[nodiscard]] std::string name_of(const ShareChoice& choice);

/// The choice that these words name. None where they name no kind of share, or a place that the kind does not have.
[[nodiscard]] std::optional<ShareChoice> share_choice(std::string_view words);

/// The one share that these words name. None where there may be many of its kind, too.
[[nodiscard]] std::optional<ShareId> single_share(std::string_view words);

/// A share of the nonzeros. It lists the rows present in it, in the order in which they are stored: an order of
/// storage, not a permutation of the matrix, so that a share with few rows costs little however many rows the matrix has.
struct Share {
    ShareId id;
    HostArray<Index> rows;             // [present] rows of the matrix in its current order
    HostArray<Offset> row_offsets{0};  // [present + 1] into entries
    HostArray<Offset> entries;         // positions in CsrMatrix::values; ascending within a row

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

    /// The same as arrays. [row_count]; empty where row i is row i.
    [[nodiscard]] std::span<const Index> rows() const { return {rows_, rows_ == nullptr ? 0 : std::size_t(row_count_)}; }
    /// [row_count + 1]
    [[nodiscard]] std::span<const Offset> offsets() const { return {offsets_, static_cast<std::size_t>(row_count_) + 1}; }
    /// [entry_count]; empty where entry i is entry i.
    [[nodiscard]] std::span<const Offset> entries() const {
        return {entries_, entries_ == nullptr ? 0 : std::size_t(entry_count())};
    }

private:
    Index row_count_ = 0;
    const Index* rows_ = nullptr;  // null: every row, in order
    const Offset* offsets_ = nullptr;
    const Offset* entries_ = nullptr;  // null: every entry, in order
};

}  // namespace workbench
