#include "kernels/formats/csr/adaptive.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

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

/// Finds for each of consecutive rows the number of rows from it on that form one tile: they are loaded in one round, none is
/// so long that other lanes wait for its lanes, and if lanes have a row each, every lane has one.
class TileWindow {
public:
    TileWindow(const HostArray<Offset>& row_offsets, int capacity, int most_rows)
        : row_offsets_(row_offsets),
          capacity_(capacity),
          most_rows_(most_rows),
          rows_(static_cast<Index>(row_offsets.size()) - 1) {}

    /// For each row, in ascending order without gaps.
    [[nodiscard]] int rows_from(Index row) {
        const Offset begin = aligned_down(row_offsets_[row]);
        while (first_ < longest_.size() && longest_[first_] < row) ++first_;
        if (end_ <= row) take(row);
        // The rows of the window before this one fit without its first row, too.
        while (end_ < rows_ && end_ - row < most_rows_ && row_offsets_[end_ + 1] - begin <= capacity_ &&
               std::max(length(longest_[first_]), length(end_)) <= most_per_lane * lanes_of_rows(end_ - row + 1)) {
            take(end_);
        }
        for (Index rows = 32; rows < end_ - row; rows += 32) {
            if (2 * (row_offsets_[row + rows] - begin) > capacity_) return rows;
        }
        return end_ - row;
    }

private:
    [[nodiscard]] Offset length(Index row) const { return row_offsets_[row + 1] - row_offsets_[row]; }

    /// Appends a row to the window. Rows that are not longer than it will never be the longest.
    void take(Index row) {
        while (longest_.size() > first_ && length(longest_.back()) <= length(row)) longest_.pop_back();
        longest_.push_back(row);
        end_ = row + 1;
    }

    const HostArray<Offset>& row_offsets_;
    int capacity_;
    int most_rows_;
    Index rows_;
    Index end_ = 0;               // of the window
    std::vector<Index> longest_;  // from first_ on: rows of the window, each longer than those after it
    std::size_t first_ = 0;
};

}  // namespace

bool reads_x_in_runs(std::span<const Index> columns) {
    const auto count = static_cast<std::int64_t>(columns.size());
    return 2 * count_in_parallel(count - 1, [&](std::int64_t i) { return columns[i + 1] == columns[i] + 1; }) > count;
}

RowTiles<HostArray> cut_into_tiles(const HostArray<Offset>& row_offsets, int capacity, const TileLimits& limits) {
    constexpr Index chunk = 8192;  // rows
    const auto rows = static_cast<Index>(row_offsets.size() - 1);
    // Where a tile begins depends on those before. Hence all rows are tried, in parallel, and the tiles are found from row to
    // row.
    std::vector<std::uint16_t> rows_of_tile(static_cast<std::size_t>(rows), 0);  // from each row on; 0: the row is shared
    for_each_in_parallel((std::int64_t{rows} + chunk - 1) / chunk, 1, [&](std::int64_t number) {
        TileWindow window(row_offsets, capacity, limits.rows);
        const auto begin = static_cast<Index>(number * chunk);
        for (Index row = begin; row < rows && row - begin < chunk; ++row) {
            const int count = window.rows_from(row);
            if (row_offsets[row + 1] - row_offsets[row] > warp_nonzeros(capacity, limits)) continue;
            rows_of_tile[row] = static_cast<std::uint16_t>(count);
        }
    });
    RowTiles<HostArray> all;
    std::vector<Index> first_rows;  // of the tiles that are not shared
    for (Index row = 0; row < rows; row += std::max<Index>(rows_of_tile[row], 1)) {
        if (rows_of_tile[row] == 0) {
            share_row(all, row, row_offsets[row], row_offsets[row + 1], capacity);
        } else {
            first_rows.push_back(row);
        }
    }
    const std::size_t shared = all.tiles.size();
    all.tiles.resize(shared + first_rows.size());
    for_each_in_parallel(std::ssize(first_rows), chunk, [&](std::int64_t i) {
        const Index row = first_rows[i];
        const int count = rows_of_tile[row];
        all.tiles[shared + i] = tile_of(row, count, row_offsets[row], row_offsets[row + count]);
    });
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
