// How long the rows of tiles are, in the order in which the tiles store them: what an order within tiles is to change.
#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

/// One tile. Its rows are counted into at most `most_bars` bars of nearly equal size, first stored row first.
struct TileProfile {
    static constexpr int most_bars = 128;

    ShareId id;
    Index rows = 0;  // present
    Offset nonzeros = 0;
    Offset steps = 0;             // of a warp that takes 32 rows at a time, a lane a row
    std::vector<Offset> longest;  // [bars] nonzeros of the longest row
    std::vector<Offset> totals;   // [bars] nonzeros

    /// The share of the lanes' steps in which they have no entry, 0 .. 1.
    [[nodiscard]] double idle() const;

    friend bool operator==(const TileProfile&, const TileProfile&) = default;
};

/// A few tiles that stand for all.
struct TileProfiles {
    Index tiles = 0;  // with nonzeros, in all
    std::vector<TileProfile> chosen = {};

    /// Are these the same tiles with their rows in another order?
    [[nodiscard]] bool shows_change_of(const TileProfiles& before) const;
};

/// Of each of 12 equal stretches of the list of tiles, the one with most nonzeros: always the same tiles, however their rows
/// are ordered. None where the shares are no tiles.
[[nodiscard]] TileProfiles profile_tiles(const StagedMatrix& staged);

/// The profiles before and after a stage side by side, tile by tile, `width` pixels wide and 9/16 of that high. Throws
/// std::invalid_argument where they are not of the same tiles.
void draw_tile_profiles(Canvas& canvas, const TileProfiles& before, const TileProfiles& after, const StageCaption& caption,
                        int width = nominal_width);

/// The same as pixels.
[[nodiscard]] Image draw_tile_profiles(const TileProfiles& before, const TileProfiles& after, const StageCaption& caption,
                                       int width = nominal_width);

}  // namespace workbench
