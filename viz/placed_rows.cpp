#include "viz/placed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "viz/text.hpp"

namespace workbench {

Placement::Placement(const StagedMatrix& staged) : staged_(staged) {
    if (staged.has_tiles()) {
        const Cuts* blocks = staged.find_cuts(CutKind::row_block);
        const Cuts* segments = staged.find_cuts(CutKind::segment);
        for (const Share& share : staged.shares) {
            if (share.entries.empty()) continue;
            const Index first_row = blocks == nullptr ? 0 : blocks->begin(share.id.row_block);
            tiles_.push_back({&share, first_row, segments->begin(share.id.segment)});
        }
        std::stable_sort(tiles_.begin(), tiles_.end(), [](const Tile& a, const Tile& b) { return a.first_row < b.first_row; });
    } else if (staged.shares.size() > 1) {
        first_at_.assign(staged.matrix.rows, -1);
        const Share& first = staged.shares.front();
        for (std::size_t stored = 0; stored < first.rows.size(); ++stored) {
            first_at_[first.rows[stored]] = static_cast<Index>(stored);
        }
    }
}

std::size_t Placement::first_tile_of(Index row) const {
    const Cuts* blocks = staged_.find_cuts(CutKind::row_block);
    const Index first_row = blocks == nullptr ? 0 : blocks->begin(blocks->piece_at(row));
    const auto above = [](const Tile& tile, Index place) { return tile.first_row < place; };
    return static_cast<std::size_t>(std::lower_bound(tiles_.begin(), tiles_.end(), first_row, above) - tiles_.begin());
}

std::vector<std::string> plane_names(const StagedMatrix& staged, Index tiles) {
    if (tiles > 0) {
        return {fmt::format("nonzeros of {} {}, rows as stored", grouped(tiles), tiles == 1 ? "tile" : "tiles")};
    }
    const std::vector<Share>& shares = staged.shares;
    std::vector<std::string> names{shares.empty() ? "nonzeros" : name_of(shares.front().id)};
    if (shares.size() == 2) names.push_back(name_of(shares.back().id));
    if (shares.size() > 2) names.push_back(fmt::format("{} other shares", shares.size() - 1));
    return names;
}

}  // namespace workbench
