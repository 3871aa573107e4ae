// The tiles of neighbouring rows that the warps of the CUDA kernel `adaptive` multiply, cut by row length when a kernel is
// prepared. After Greathouse and Daga, "Efficient Sparse Matrix-Vector Multiplication on GPUs Using the CSR Storage Format"
// (CSR-Adaptive, SC 2014): rows that fit together are streamed through shared memory, a long row has a warp of its own, a
// longer one a block, and the longest several blocks. Designs of this project: a tile belongs to a warp instead of a block, the
// sizes, and the last block of the longest rows adds up their parts in order instead of atomically.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/storage/fields.hpp"
#include "kernels/device/tuned.hpp"

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

/// A row that several blocks share, neighbours.
struct SplitRow {
    Index row = 0;
    Index first_block = 0;
    Index blocks = 0;

    friend bool operator==(const SplitRow&, const SplitRow&) = default;
};

/// In each of the first split_of_block.size() blocks all warps share a row, or a part of one: their tiles are consecutive. Each
/// other warp has a tile of whole rows.
template <template <typename> typename Array>
struct RowTiles {
    Array<RowTile> tiles;
    Array<Index> split_of_block;  // [shared blocks] index into split_rows; -1: the block has a whole row
    Array<SplitRow> split_rows;   // [split rows]

    static constexpr auto fields() {
        return field_list(structure_array<&RowTiles::tiles>("tiles"),
                          structure_array<&RowTiles::split_of_block>("shared blocks"),
                          structure_array<&RowTiles::split_rows>("split rows"));
    }
};

/// Loads of a tile start at a multiple of this, so that none straddles a sector of 32 bytes.
inline constexpr Offset tile_alignment = 8;

[[nodiscard]] constexpr Offset aligned_down(Offset nonzero) { return nonzero / tile_alignment * tile_alignment; }

/// The lanes of a warp that share each row: the largest power of two that gives all rows their lanes.
[[nodiscard]] constexpr int lanes_of_rows(int rows) {
    int lanes = 32;
    while (lanes > 1 && lanes * rows > 32) lanes /= 2;
    return lanes;
}

/// The limits that bound the time of a tile: a warp reads the offsets of 32 rows at a time, and waits for memory each time.
struct TileLimits {
    int rows = 256;  // of a tile
    int rounds = 4;  // of a row that a warp multiplies alone
};

/// A warp loads a tile in rounds of `capacity` nonzeros, of which each lane has `loads` times `width` neighbouring ones. A
/// multiprocessor holds at least `blocks`, which bounds the registers.
template <int load_count, int blocks, TileLimits tile_limits = TileLimits{}>
struct TileShape {
    static constexpr TileLimits limits = tile_limits;
    static constexpr int width = 2;
    static constexpr int loads = load_count;
    static constexpr int capacity = 32 * width * loads;
    static constexpr int resident_blocks = blocks;

    /// The first slot of a lane's load, counted from the beginning of the round.
    [[nodiscard]] static constexpr int place(int load, int lane) { return (load * 32 + lane) * width; }
};

/// Without values. Chosen by how many loads depend on one another, not by measurements.
using PatternTileShape = TileShape<4, 6, TileLimits{.rows = 64, .rounds = 2}>;

/// True if most entries follow the column before them, as when mesh nodes have several unknowns: a warp then reads few sectors
/// of x.
[[nodiscard]] bool reads_x_in_runs(std::span<const Index> columns);

/// Calls use(shape) with the shape for a matrix of CSR. A large tile has more loads in flight, but a warp loads nothing while
/// it adds up many short rows; and if the reads of x are scattered, the lookups in L2 are the bottleneck, which more warps
/// relieve better than more loads of a warp. Without values to load, registers suffice for more loads of as many warps, and the
/// latency of a tile counts more: its rows, and the rounds of a row, are fewer. in_runs() returns what reads_x_in_runs returns.
auto with_tile_shape(const auto& csr, const auto& in_runs, const auto& use) {
    if constexpr (HasLineValues<decltype(csr)>) {
        return use(PatternTileShape{});
    } else {
        using Value = std::remove_cvref_t<decltype(csr.values[0])>;
        using Small = TileShape<2, tuned::csr_resident_blocks_of_small_tiles>;
        using Usual = TileShape<4, tuned::csr_resident_blocks_of_tiles<Value>>;
        using Large = TileShape<8, tuned::csr_resident_blocks_of_large_tiles<Value>>;
        const auto nonzeros = static_cast<Offset>(csr.values.size());
        if (nonzeros < tuned::csr_short_rows * csr.row_count) return use(Small{});
        const bool is_large = nonzeros >= tuned::csr_long_rows * csr.row_count && in_runs();
        return is_large ? use(Large{}) : use(Usual{});
    }
}

/// For arrays on the host.
auto with_tile_shape(const auto& csr, const auto& use) {
    return with_tile_shape(
        csr, [&] { return reads_x_in_runs(csr.column_indices); }, use);
}

/// Cuts rows into tiles. Rows share a tile if they are loaded in one round (of `capacity` nonzeros).
/// row_offsets: [rows + 1].
[[nodiscard]] RowTiles<HostArray> cut_into_tiles(const HostArray<Offset>& row_offsets, int capacity,
                                                 const TileLimits& limits = {});

/// The bytes that a product moves in addition to the arrays of csr, x and y: the tiles, and the partial sums, written and read.
[[nodiscard]] std::int64_t bytes_of_tiles(const RowTiles<HostArray>& all, std::int64_t bytes_per_sum);

}  // namespace workbench
