// What the warps of the CUDA kernels `adaptive` work on: tiles of neighbouring rows, cut by their lengths when a kernel is
// prepared. After Greathouse and Daga, "Efficient Sparse Matrix-Vector Multiplication on GPUs Using the CSR Storage Format"
// (CSR-Adaptive, SC 2014): rows that fit together are streamed through shared memory, a long row has a warp of its own, a
// longer one a block, and the longest several blocks. Designs of this project: that a tile is a warp's and not a block's, the
// sizes, and that the longest rows are added up by a kernel of their own instead of atomically.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// Whole rows, or a part of one, for one warp.
struct alignas(16) RowTile {
    Offset first = 0;  // nonzero
    Index row = 0;
    std::uint16_t nonzeros = 0;
    std::uint16_t rows = 0;  // 0: the tile is empty

    friend bool operator==(const RowTile&, const RowTile&) = default;
};

inline constexpr int adaptive_warps = 8;  // of a block

/// The first shared_targets.size() blocks have a row, or a part of one, for all their warps together: the tiles of their warps
/// are one after another. A tile of every other warp stands alone.
template <template <typename> typename Array>
struct RowTiles {
    template <template <typename> typename Other>
    using In = RowTiles<Other>;

    Array<RowTile> tiles;
    Array<Index> shared_targets;  // [shared blocks] the partial sum that the block writes; -1: it has a whole row, and writes y
    Array<Index> split_rows;      // [split rows] rows that several blocks share
    Array<Index> split_starts;    // [split rows + 1] first partial sum of each

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "tiles [tiles]", of.tiles...);
        visit(ArrayRole::structure, "shared_targets [shared blocks]", of.shared_targets...);
        visit(ArrayRole::structure, "split_rows [split rows]", of.split_rows...);
        visit(ArrayRole::structure, "split_starts [split rows + 1]", of.split_starts...);
    }
};

/// Tiles are loaded from a nonzero on whose number is a multiple of this, so that no load straddles a sector of 32 bytes.
inline constexpr Offset tile_alignment = 8;

[[nodiscard]] constexpr Offset aligned_down(Offset nonzero) { return nonzero / tile_alignment * tile_alignment; }

/// The lanes of a warp that share each of so many rows: as many as there are, but a power of two.
[[nodiscard]] constexpr int lanes_of_rows(int rows) {
    int lanes = 32;
    while (lanes > 1 && lanes * rows > 32) lanes /= 2;
    return lanes;
}

/// How a warp loads a tile: in rounds of `capacity` nonzeros, of which each lane has `loads` times `width` neighbouring ones.
template <int load_width, int load_count>
struct TileShape {
    static constexpr int width = load_width;
    static constexpr int loads = load_count;
    static constexpr int capacity = 32 * width * loads;

    /// The first slot of a lane's load, counted from the beginning of the round.
    [[nodiscard]] static constexpr int place(int load, int lane) { return (load * 32 + lane) * width; }
};

using AdaptiveA = TileShape<1, 8>;
using AdaptiveB = TileShape<2, 4>;
using AdaptiveC = TileShape<2, 8>;
using AdaptiveD = TileShape<2, 2>;

/// Cuts rows into tiles. Several rows share a tile where they are loaded in one round (of `capacity` nonzeros).
/// row_offsets: [rows + 1].
[[nodiscard]] RowTiles<HostArray> cut_into_tiles(const std::vector<Offset>& row_offsets, int capacity);

/// The bytes that a product moves beside the arrays of csr, x and y: the tiles, and the partial sums, written and read.
[[nodiscard]] std::int64_t bytes_of_tiles(const RowTiles<HostArray>& all, std::int64_t bytes_per_sum);

}  // namespace workbench
