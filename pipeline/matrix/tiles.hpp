// Tiles: shares that are the nonzeros of a row block within a segment.
#pragma once

#include <string_view>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// What contracts call such shares, all of them together: a segment is a tile of a single row block. A stage that cuts the
/// matrix into tiles gives both words; one that needs tiles proper also needs cuts into row blocks.
inline constexpr std::string_view tile_family = "tile";
inline constexpr std::string_view segment_family = "segment";

/// Are the shares of this matrix tiles, or segments? They are where it is cut into segments: the stage that does that makes
/// them.
[[nodiscard]] bool has_tiles(const StagedMatrix& staged);

/// Where a tile lies.
struct Tile {
    Index row_block = 0;  // 0 where there are no cuts into row blocks
    Index segment = 0;

    friend bool operator==(const Tile&, const Tile&) = default;
};

/// The tile that a share is, from the cuts and any one of its entries. The share is not empty, and a stage that gives tiles has
/// made it; throws std::logic_error where the matrix has no segments.
[[nodiscard]] Tile tile_of(const StagedMatrix& staged, const Share& share);

}  // namespace workbench
