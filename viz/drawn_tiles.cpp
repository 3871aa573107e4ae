#include "viz/drawn_tiles.hpp"

namespace workbench {

DrawnTiles::DrawnTiles(const StagedMatrix& staged) : blocks_(staged.find_cuts(CutKind::row_block)) {
    if (!staged.has_tiles()) return;
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    for (const Share& share : staged.shares) {
        if (share.entries.empty()) continue;
        const Index first_row = blocks_ == nullptr ? 0 : blocks_->begin(share.id.row_block);
        tiles_.push_back({&share, first_row, segments->begin(share.id.segment)});
    }
    std::stable_sort(tiles_.begin(), tiles_.end(),
                     [](const DrawnTile& a, const DrawnTile& b) { return a.first_row < b.first_row; });
}

}  // namespace workbench
