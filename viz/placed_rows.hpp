// The places of the nonzeros of a matrix in its pictures, row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// One row of a picture, or the part of it that one tile stores.
struct PlacedRow {
    Index row = 0;                         // of the picture
    Index matrix_row = 0;                  // of the matrix in its current order
    Index first_column = 0;                // of the tile
    Offset begin = 0;                      // its entries are the positions begin .. begin + length - 1 of the matrix, or those
    Offset length = 0;                     //   in `entries`
    const Offset* entries = nullptr;       // [length] of a tile
    const std::uint8_t* planes = nullptr;  // [nonzeros of the matrix]; null: all are in plane 0

    /// Calls visit(position in CsrMatrix::values, plane) for each entry, in the order of their columns.
    template <typename Visit>
    void for_each_entry(const Visit& visit) const {
        if (entries != nullptr) {
            for (Offset k = 0; k < length; ++k) visit(entries[k], 0);
        } else if (planes == nullptr) {
            for (Offset k = begin; k < begin + length; ++k) visit(k, 0);
        } else {
            for (Offset k = begin; k < begin + length; ++k) visit(k, int{planes[k]});
        }
    }
};

/// A tile or segment with nonzeros, and the place that its first stored row is drawn at.
struct PlacedTile {
    const Share* share = nullptr;
    Index first_row = 0;
    Index first_column = 0;
};

/// Each share is a plane; if there are more shares than planes, the last plane holds all further shares. If the shares are
/// tiles, all are in plane 0, and a row is drawn where its tile stores it: row i of a tile is i rows below the tile's upper
/// edge, so that the rows present in a tile are together at its top.
class Placement {
public:
    /// The matrix must outlive this; most_planes >= 1.
    explicit Placement(const StagedMatrix& staged, int most_planes = 2);

    /// The tiles from top to bottom; empty if the shares are not tiles, so that rows are drawn at their places in the matrix.
    [[nodiscard]] const std::vector<PlacedTile>& tiles() const { return tiles_; }
    [[nodiscard]] int planes() const { return planes_; }

    /// Calls visit(PlacedRow) for all rows of the picture from begin to end - 1; with tiles, for each row that a tile stores.
    template <typename Visit>
    void for_each_row(Index begin, Index end, const Visit& visit) const {
        if (!tiles_.empty()) return for_each_tile_row(begin, end, visit);
        const CsrMatrix& matrix = staged_.matrix;
        const std::uint8_t* planes = planes_ == 1 ? nullptr : plane_of_.data();
        for (Index row = begin; row < end; ++row) {
            visit(PlacedRow{row, row, 0, matrix.row_offsets[row], matrix.row_length(row), nullptr, planes});
        }
    }

private:
    /// The tile with which a search from this row of the picture on begins.
    [[nodiscard]] std::size_t first_tile_of(Index row) const;

    template <typename Visit>
    void for_each_tile_row(Index begin, Index end, const Visit& visit) const {
        for (std::size_t i = first_tile_of(begin); i < tiles_.size() && tiles_[i].first_row < end; ++i) {
            const auto& [share, first_row, first_column] = tiles_[i];
            const Index last = std::min(static_cast<Index>(share->rows.size()), end - first_row);
            for (Index stored = std::max(begin - first_row, Index{0}); stored < last; ++stored) {
                const Offset at = share->row_offsets[stored];
                visit(PlacedRow{first_row + stored, share->rows[stored], first_column, 0, share->row_offsets[stored + 1] - at,
                                share->entries.data() + at});
            }
        }
    }

    const StagedMatrix& staged_;
    std::vector<PlacedTile> tiles_;
    int planes_ = 1;
    std::vector<std::uint8_t> plane_of_;  // [nonzeros]; empty where there is one plane
};

/// The names of the planes of a Placement: "nonzeros" if the nonzeros are not split, or are tiles.
[[nodiscard]] std::vector<std::string> plane_names(const StagedMatrix& staged, int most_planes = 2);

}  // namespace workbench
