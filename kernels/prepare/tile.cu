// Each entry has its own position in every array and each run its own number, so threads cannot race.
#include <bit>

#include "kernels/prepare/primitives.cuh"
#include "kernels/prepare/search.cuh"
#include "kernels/prepare/staging.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

constexpr int lanes = 8;

__global__ void find_pieces(const Index* __restrict__ boundaries, Index count, Index places, Index* __restrict__ piece_of) {
    for (std::size_t place = blockIdx.x * std::size_t{block_threads} + threadIdx.x; place < static_cast<std::size_t>(places);
         place += gridDim.x * std::size_t{block_threads}) {
        piece_of[place] = piece_at(boundaries, count, static_cast<Index>(place));
    }
}

__global__ void key_entries(const std::uint32_t* __restrict__ offsets, const Index* __restrict__ columns, Index rows,
                            const Index* __restrict__ block_of, const Index* __restrict__ segment_of, Index segments,
                            int row_bits, std::uint64_t* __restrict__ keys, std::uint32_t* __restrict__ entries) {
    const std::size_t first = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / lanes;
    for (std::size_t row = first; row < static_cast<std::size_t>(rows); row += gridDim.x * std::size_t{block_threads} / lanes) {
        const std::uint64_t first_tile = block_of == nullptr ? 0 : static_cast<std::uint64_t>(block_of[row]) * segments;
        const std::uint32_t end = offsets[row + 1];
        for (std::uint32_t i = offsets[row] + threadIdx.x % lanes; i < end; i += lanes) {
            keys[i] = (first_tile + static_cast<std::uint64_t>(segment_of[columns[i]])) << row_bits | row;
            entries[i] = i;
        }
    }
}

/// True if the key differs from the key before it in more than the lowest bits.
__device__ bool begins_run(const std::uint64_t* __restrict__ keys, std::size_t i, int shift) {
    return i == 0 || keys[i] >> shift != keys[i - 1] >> shift;
}

__global__ void mark_runs(const std::uint64_t* __restrict__ keys, std::size_t count, int shift, Offset* __restrict__ marks) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        marks[i] = begins_run(keys, i, shift) ? 1 : 0;
    }
}

/// numbers: the run of each key, counted from 1.
__global__ void list_runs(const std::uint64_t* __restrict__ keys, std::size_t count, int shift,
                          const Offset* __restrict__ numbers, std::uint64_t* __restrict__ run_keys,
                          std::uint32_t* __restrict__ run_begins) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        if (!begins_run(keys, i, shift)) continue;
        run_keys[numbers[i] - 1] = keys[i];
        run_begins[numbers[i] - 1] = static_cast<std::uint32_t>(i);
    }
}

/// Runs of keys that differ only in their lowest bits.
struct Runs {
    WorkspaceArray<std::uint64_t> keys;    // [runs] the first key of each
    WorkspaceArray<std::uint32_t> begins;  // [runs]
};

Runs find_runs(Workspace& workspace, const WorkspaceArray<std::uint64_t>& keys, int shift) {
    const unsigned blocks = blocks_of(keys.size(), block_threads);
    auto numbers = workspace.make<Offset>(keys.size());
    mark_runs<<<blocks, block_threads, 0, workspace.stream()>>>(keys.data(), keys.size(), shift, numbers.data());
    check_launch("mark_runs");
    sum_up(workspace, numbers);
    const auto count = static_cast<std::size_t>(workspace.download_item(numbers, keys.size() - 1));
    Runs runs{workspace.make<std::uint64_t>(count), workspace.make<std::uint32_t>(count)};
    list_runs<<<blocks, block_threads, 0, workspace.stream()>>>(keys.data(), keys.size(), shift, numbers.data(),
                                                                runs.keys.data(), runs.begins.data());
    check_launch("list_runs");
    return runs;
}

WorkspaceArray<Index> pieces_of(Workspace& workspace, const Cuts& cuts, Index places) {
    const auto boundaries = workspace.upload<Index>(std::span(cuts.boundaries));
    auto piece_of = workspace.make<Index>(places);
    find_pieces<<<blocks_of(places, block_threads), block_threads, 0, workspace.stream()>>>(boundaries.data(), cuts.count(),
                                                                                            places, piece_of.data());
    check_launch("find_pieces");
    return piece_of;
}

template <typename Item>
HostArray<Item> downloaded(Workspace& workspace, const WorkspaceArray<Item>& array) {
    HostArray<Item> items;
    make_room(items, array.size());
    workspace.download(array, std::span(items));
    return items;
}

}  // namespace

TiledEntries tile_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Cuts* row_blocks, const Cuts& segments) {
    TiledEntries tiled;
    tiled.row_bits = std::bit_width(static_cast<std::uint32_t>(matrix.rows));
    const std::uint64_t tiles = static_cast<std::uint64_t>(row_blocks == nullptr ? 1 : row_blocks->count()) *
                                static_cast<std::uint64_t>(segments.count());
    const int bits = tiled.row_bits + static_cast<int>(std::bit_width(tiles));
    if (bits > 64) throw NoRoom();

    make_room(tiled.entries, matrix.column_indices.size());
    const auto offsets = workspace.upload_narrow(std::span(matrix.row_offsets));
    const auto columns = workspace.upload<Index>(std::span(matrix.column_indices));
    const auto segment_of = pieces_of(workspace, segments, matrix.columns);
    const auto block_of = row_blocks == nullptr ? WorkspaceArray<Index>() : pieces_of(workspace, *row_blocks, matrix.rows);
    auto keys = workspace.make<std::uint64_t>(columns.size());
    auto entries = workspace.make<std::uint32_t>(columns.size());
    key_entries<<<blocks_of(static_cast<std::size_t>(matrix.rows) * lanes, block_threads), block_threads, 0,
                  workspace.stream()>>>(offsets.data(), columns.data(), matrix.rows, block_of.data(), segment_of.data(),
                                        segments.count(), tiled.row_bits, keys.data(), entries.data());
    check_launch("key_entries");
    // Entries are already in row order, and the sort is stable.
    sort_pairs(workspace, keys, entries, tiled.row_bits, bits);
    const Runs rows = find_runs(workspace, keys, 0);
    const Runs by_tile = find_runs(workspace, rows.keys, tiled.row_bits);
    workspace.download(entries, std::span(tiled.entries));
    tiled.row_keys = downloaded(workspace, rows.keys);
    tiled.row_entries = downloaded(workspace, rows.begins);
    tiled.tile_rows = downloaded(workspace, by_tile.begins);
    return tiled;
}

}  // namespace workbench
