#include "pipeline/matrix/tiles.hpp"

#include <stdexcept>

namespace workbench {

bool has_tiles(const StagedMatrix& staged) { return !staged.shares.empty() && staged.find_cuts(CutKind::segment) != nullptr; }

Tile tile_of(const StagedMatrix& staged, const Share& share) {
    const Cuts* blocks = staged.find_cuts(CutKind::row_block);
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    if (segments == nullptr || share.entries.empty()) throw std::logic_error("share '" + share.name + "' is no tile");
    return {blocks == nullptr ? 0 : blocks->piece_at(share.rows.front()),
            segments->piece_at(staged.matrix.column_indices[share.entries.front()])};
}

}  // namespace workbench
