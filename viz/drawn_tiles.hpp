// Tiles as pictures show them: the rows of each as it stores them, from its upper edge down.
#pragma once

#include <algorithm>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// A tile or segment with nonzeros, and the place that its first stored row is drawn at.
struct DrawnTile {
    const Share* share = nullptr;
    Index first_row = 0;
    Index first_column = 0;
};

class DrawnTiles {
public:
    /// None where the shares are no tiles. The matrix must outlive this.
    explicit DrawnTiles(const StagedMatrix& staged);

    [[nodiscard]] bool empty() const { return tiles_.empty(); }
    [[nodiscard]] const std::vector<DrawnTile>& tiles() const { return tiles_; }  // from top to bottom

    /// Calls visit(tile, stored row) for all rows that are drawn at places begin .. end - 1.
    template <typename Visit>
    void for_each_row(Index begin, Index end, const Visit& visit) const {
        const Index first_row = blocks_ == nullptr ? 0 : blocks_->begin(blocks_->piece_at(begin));
        auto tile = std::lower_bound(tiles_.begin(), tiles_.end(), first_row,
                                     [](const DrawnTile& one, Index row) { return one.first_row < row; });
        for (; tile != tiles_.end() && tile->first_row < end; ++tile) {
            const Index last = std::min(static_cast<Index>(tile->share->rows.size()), end - tile->first_row);
            for (Index stored = std::max(begin - tile->first_row, Index{0}); stored < last; ++stored) visit(*tile, stored);
        }
    }

private:
    const Cuts* blocks_ = nullptr;
    std::vector<DrawnTile> tiles_;
};

}  // namespace workbench
