// Where the nonzeros of a matrix lie in its pictures, row by row.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// One row of a picture, or, where the shares are tiles, what one tile stores in it.
struct PlacedRow {
    Index row = 0;                       // of the picture
    Index matrix_row = 0;                // of the matrix in its current order
    Index first_column = 0;              // of the tile
    Offset begin = 0;                    // its entries are the positions begin .. begin + length - 1 of the matrix, or those
    Offset length = 0;                   //   in `entries`
    const Offset* entries = nullptr;     // [length] of a tile
    std::span<const Offset> first = {};  // ascending: the positions among them that are in the first share
    bool split = false;                  // is there another share?

    /// Calls visit(position in CsrMatrix::values, plane) for each entry, in the order of their columns.
    template <typename Visit>
    void for_each_entry(const Visit& visit) const {
        if (entries != nullptr) {
            for (Offset k = 0; k < length; ++k) visit(entries[k], 0);
        } else if (!split) {
            for (Offset k = begin; k < begin + length; ++k) visit(k, 0);
        } else {
            auto next = first.begin();
            for (Offset k = begin; k < begin + length; ++k) {
                const bool in_first = next != first.end() && *next == k;
                if (in_first) ++next;
                visit(k, in_first ? 0 : 1);
            }
        }
    }
};

/// "Plane" 0 is the first share, or everything where the nonzeros are not split; plane 1 is all other shares. Where the shares
/// are tiles, all is in plane 0, and a row lies where its tile stores it: the i-th of a tile i rows below the tile's upper
/// edge, so that the rows present in a tile lie together at its top.
class Placement {
public:
    /// The matrix must outlive this.
    explicit Placement(const StagedMatrix& staged);

    /// With nonzeros; 0: the shares are no tiles, and rows lie where the matrix has them.
    [[nodiscard]] Index tiles() const { return static_cast<Index>(tiles_.size()); }
    [[nodiscard]] bool has_planes() const { return !first_at_.empty(); }

    /// Calls visit(PlacedRow) for all rows of the picture from begin to end - 1; of tiles, for each row that a tile stores.
    template <typename Visit>
    void for_each_row(Index begin, Index end, const Visit& visit) const {
        if (!tiles_.empty()) return for_each_tile_row(begin, end, visit);
        const CsrMatrix& matrix = staged_.matrix;
        for (Index row = begin; row < end; ++row) {
            visit(
                PlacedRow{row, row, 0, matrix.row_offsets[row], matrix.row_length(row), nullptr, first_of(row), has_planes()});
        }
    }

private:
    struct Tile {
        const Share* share = nullptr;
        Index first_row = 0;  // of the picture, where its first stored row lies
        Index first_column = 0;
    };

    [[nodiscard]] std::span<const Offset> first_of(Index row) const {
        if (!has_planes() || first_at_[row] < 0) return {};
        const Share& share = staged_.shares.front();
        const Offset begin = share.row_offsets[first_at_[row]];
        return {share.entries.data() + begin, static_cast<std::size_t>(share.row_offsets[first_at_[row] + 1] - begin)};
    }

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
    std::vector<Tile> tiles_;      // from top to bottom
    std::vector<Index> first_at_;  // [rows] where the first share stores a row; -1: nowhere. Empty unless there are planes
};

/// What the planes are called: one or two names.
[[nodiscard]] std::vector<std::string> plane_names(const StagedMatrix& staged, Index tiles);

}  // namespace workbench
