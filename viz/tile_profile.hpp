// The row lengths of tiles in storage order, which an order within tiles changes.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

/// One tile. Its rows are counted into at most `most_bars` bars of nearly equal size, in storage order.
struct TileProfile {
    static constexpr int most_bars = 128;

    ShareId id;
    Index rows = 0;  // with nonzeros
    Offset nonzeros = 0;
    Offset steps = 0;             // of a warp that processes 32 rows at a time, one per lane
    std::vector<Offset> longest;  // [bars] nonzeros of the longest row
    std::vector<Offset> totals;   // [bars] nonzeros

    /// The share of idle lane steps, 0 .. 1.
    [[nodiscard]] double idle() const;

    friend bool operator==(const TileProfile&, const TileProfile&) = default;
};

/// The profiles of some tiles.
struct TileProfiles {
    Index tiles = 0;  // all tiles with nonzeros
    std::vector<TileProfile> chosen = {};

    /// True if these are the same tiles with their rows in another order.
    [[nodiscard]] bool shows_change_of(const TileProfiles& before) const;
};

/// Chooses the tile with the most nonzeros in each of 12 equal parts of the list of tiles, independently of the order of rows.
/// Empty if the shares are no tiles.
[[nodiscard]] TileProfiles profile_tiles(const StagedMatrix& staged);

/// A 16:9 picture of the profiles before and after a stage, tile by tile. draw throws std::invalid_argument if they are not of
/// the same tiles.
struct TileProfilePicture {
    const TileProfiles& before;
    const TileProfiles& after;
    StageCaption caption;
    int width = nominal_width;
};

[[nodiscard]] PictureSize size_of(const TileProfilePicture& picture);
void draw(Canvas& canvas, const TileProfilePicture& picture);

}  // namespace workbench
