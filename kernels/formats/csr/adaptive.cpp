#include "kernels/formats/csr/adaptive.hpp"

#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// The most nonzeros of a row that one warp multiplies alone.
constexpr Offset warp_nonzeros(int capacity, const TileLimits& limits) {
    return std::min<Offset>(1024, limits.rounds * capacity);
}
/// The most nonzeros of a thread block in a row that blocks share: two rounds a warp, each of which waits for memory twice.
constexpr Offset block_nonzeros(int capacity) { return Offset{adaptive_warps} * 2 * capacity; }

constexpr Offset most_per_lane = 32;  // nonzeros that a lane adds up where several rows share a tile

/// The begin of part k of `parts` of the nonzeros [first, end), aligned for loads.
Offset part_begin(Offset first, Offset end, Offset k, Offset parts) {
    if (k == 0) return first;
    return k == parts ? end : std::max(first, aligned_down(first + (end - first) / parts * k));
}

RowTile tile_of(Index row, int rows, Offset first, Offset end) {
    return {.first = first,
            .row = row,
            .nonzeros = static_cast<std::uint16_t>(end - first),
            .rows = static_cast<std::uint16_t>(rows)};
}

/// Deals a row to the warps of one thread block, or of several.
void share_row(RowTiles<HostArray>& all, Index row, Offset first, Offset end, int capacity) {
    const auto blocks = static_cast<Index>((end - first + block_nonzeros(capacity) - 1) / block_nonzeros(capacity));
    const auto split = static_cast<Index>(all.split_rows.size());
    if (blocks > 1) all.split_rows.push_back({row, static_cast<Index>(all.split_of_block.size()), blocks});
    for (Index block = 0; block < blocks; ++block) {
        const Offset begin_of_block = part_begin(first, end, block, blocks);
        const Offset end_of_block = part_begin(first, end, block + 1, blocks);
        for (int warp = 0; warp < adaptive_warps; ++warp) {
            all.tiles.push_back(tile_of(row, 1, part_begin(begin_of_block, end_of_block, warp, adaptive_warps),
                                        part_begin(begin_of_block, end_of_block, warp + 1, adaptive_warps)));
        }
        all.split_of_block.push_back(blocks > 1 ? split : -1);
    }
}

/// The number of rows from `row` on that form one tile: they are loaded in one round, none is so long that other lanes wait for
/// its lanes, and if lanes have a row each, every lane has one.
int rows_of_tile(const HostArray<Offset>& row_offsets, Index row, Index end_row, int capacity, int most_rows) {
    const Offset begin = aligned_down(row_offsets[row]);
    Offset longest = 0;
    int rows = 0;
    while (row + rows < end_row && rows < most_rows) {
        const Offset end = row_offsets[row + rows + 1];
        longest = std::max(longest, end - row_offsets[row + rows]);
        if (rows > 0 && (end - begin > capacity || longest > most_per_lane * lanes_of_rows(rows + 1))) break;
        ++rows;
        if (rows % 32 == 0 && 2 * (end - begin) > capacity) break;
    }
    return rows;
}

}  // namespace

bool reads_x_in_runs(std::span<const Index> columns) {
    const auto count = static_cast<std::int64_t>(columns.size());
    return 2 * count_in_parallel(count - 1, [&](std::int64_t i) { return columns[i + 1] == columns[i] + 1; }) > count;
}

RowTiles<HostArray> cut_into_tiles(const HostArray<Offset>& row_offsets, int capacity, const TileLimits& limits) {
    RowTiles<HostArray> all;
    const auto rows = static_cast<Index>(row_offsets.size() - 1);
    const auto is_shared = [&](Index row) { return row_offsets[row + 1] - row_offsets[row] > warp_nonzeros(capacity, limits); };
    for (Index row = 0; row < rows; ++row) {
        if (is_shared(row)) share_row(all, row, row_offsets[row], row_offsets[row + 1], capacity);
    }
    for (Index row = 0; row < rows;) {
        if (is_shared(row)) {
            ++row;
            continue;
        }
        const int count = rows_of_tile(row_offsets, row, rows, capacity, limits.rows);
        all.tiles.push_back(tile_of(row, count, row_offsets[row], row_offsets[row + count]));
        row += count;
    }
    return all;
}

std::int64_t bytes_of_tiles(const RowTiles<HostArray>& all, std::int64_t bytes_per_sum) {
    std::int64_t bytes = 0;
    for_each_field([&](const FieldInfo&, const auto& array) { bytes += std::ssize(array) * std::int64_t{sizeof(array[0])}; },
                   all);
    for (const SplitRow& split : all.split_rows) bytes += 2 * bytes_per_sum * split.blocks;
    return bytes;
}

}  // namespace workbench
