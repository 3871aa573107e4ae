#include "viz/placed_rows.hpp"
#include "core/text/words.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <algorithm>

namespace workbench {
namespace {

std::vector<std::uint8_t> planes_of(const StagedMatrix& staged, int planes) {
    std::vector<std::uint8_t> plane_of(staged.matrix.nonzeros());
    for (std::size_t share = 1; share < staged.shares.size(); ++share) {
        const auto plane = static_cast<std::uint8_t>(std::min<std::size_t>(share, planes - 1));
        const std::span<const Offset> entries = staged.shares[share].entries;
        using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;
        Kokkos::parallel_for("planes", Policy(0, static_cast<std::int64_t>(entries.size())),
                             [&](std::int64_t k) { plane_of[entries[k]] = plane; });
    }
    return plane_of;
}

}  // namespace

Placement::Placement(const StagedMatrix& staged, int most_planes) : staged_(staged) {
    if (staged.has_tiles()) {
        const Cuts* blocks = staged.find_cuts(CutKind::row_block);
        const Cuts* segments = staged.find_cuts(CutKind::segment);
        for (const Share& share : staged.shares) {  // from top to bottom, see split_into_tiles
            if (share.entries.empty()) continue;
            const Index first_row = blocks == nullptr ? 0 : blocks->begin(share.id.row_block);
            tiles_.push_back({&share, first_row, segments->begin(share.id.segment)});
        }
    } else if (staged.shares.size() > 1 && most_planes > 1) {
        planes_ = static_cast<int>(std::min<std::size_t>(staged.shares.size(), most_planes));
        plane_of_ = planes_of(staged, planes_);
    }
}

std::size_t Placement::first_tile_of(Index row) const {
    const Cuts* blocks = staged_.find_cuts(CutKind::row_block);
    const Index first_row = blocks == nullptr ? 0 : blocks->begin(blocks->piece_at(row));
    const auto above = [](const PlacedTile& tile, Index place) { return tile.first_row < place; };
    return static_cast<std::size_t>(std::lower_bound(tiles_.begin(), tiles_.end(), first_row, above) - tiles_.begin());
}

std::vector<std::string> plane_names(const StagedMatrix& staged, int most_planes) {
    if (staged.shares.empty() || staged.has_tiles()) return {"nonzeros"};
    std::vector<std::string> names;
    const std::size_t most = most_planes;
    for (const Share& share : staged.shares) {
        if (names.size() == most) break;
        names.push_back(name_of(share.id));
    }
    if (staged.shares.size() > most) names.back() = fmt::format("{}", counted(staged.shares.size() - most + 1, "other share"));
    return names;
}

}  // namespace workbench
