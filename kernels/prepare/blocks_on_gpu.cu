// Finds the blocks of a matrix on the GPU, as walk_block_row does on the host (core/matrix/block_rows.hpp).
//
// Races. A tile of threads takes a row of blocks, and each of its threads one row of the matrix. The first thread of the tile
// writes the columns of the blocks, and the thread of a row writes the places of its nonzeros, which are its own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>
#include <limits>

#include "core/matrix/block_rows.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

constexpr int tile_of_block_row = 8;  // threads; blocks have at most 6 rows
using BlockRowTile = cooperative_groups::thread_block_tile<tile_of_block_row>;

/// A matrix whose rows and columns are taken in blocks of size x size; the last blocks may exceed it.
struct BlockedRows {
    const std::uint32_t* offsets;  // [rows + 1]
    const Index* columns;          // [nonzeros] ascending in each row
    Index rows;
    Index size;
    Index block_rows;

    BlockedRows(const PatternOnGpu& pattern, Index of_size)
        : offsets(pattern.offsets),
          columns(pattern.columns),
          rows(pattern.vertices),
          size(of_size),
          block_rows(block_count_of(pattern.vertices, of_size)) {}

    [[nodiscard]] unsigned thread_blocks() const {
        return blocks_of(static_cast<std::size_t>(block_rows) * tile_of_block_row, block_threads);
    }
};

/// Calls use(tile, block row) for all rows of blocks, with all threads of a tile.
template <typename Use>
inline __device__ void for_each_block_row(const BlockedRows& matrix, const Use& use) {
    const auto tile = cooperative_groups::tiled_partition<tile_of_block_row>(cooperative_groups::this_thread_block());
    const std::size_t first = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / tile_of_block_row;
    for (std::size_t block_row = first; block_row < static_cast<std::size_t>(matrix.block_rows);
         block_row += gridDim.x * std::size_t{block_threads} / tile_of_block_row) {
        use(tile, static_cast<Index>(block_row));
    }
}

/// Calls visit_block(k, block column) in the first thread of the tile for the k-th block of a row of blocks that holds a
/// nonzero, from left to right, and visit_nonzero(k, block column, row of the block, nonzero) for its nonzeros in the threads
/// of their rows. Returns the number of blocks.
template <typename VisitBlock, typename VisitNonzero>
inline __device__ Index walk_block_row(const BlockRowTile& tile, const BlockedRows& matrix, Index block_row,
                                       const VisitBlock& visit_block, const VisitNonzero& visit_nonzero) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const auto own = static_cast<Index>(tile.thread_rank());
    const Offset row = Offset{block_row} * matrix.size + own;
    const bool has_row = own < matrix.size && row < matrix.rows;
    std::uint32_t next = has_row ? matrix.offsets[row] : 0;
    const std::uint32_t end = has_row ? matrix.offsets[row + 1] : 0;
    for (Index k = 0;; ++k) {
        const Index leftmost = next < end ? matrix.columns[next] / matrix.size : none;
        const Index block_column = cooperative_groups::reduce(tile, leftmost, cooperative_groups::less<Index>());
        if (block_column == none) return k;
        if (own == 0) visit_block(k, block_column);
        for (; next < end && matrix.columns[next] / matrix.size == block_column; ++next) {
            visit_nonzero(k, block_column, own, next);
        }
    }
}

/// counts: [block rows + 1] the blocks of each row of blocks, at the place after it.
__global__ void count_blocks(BlockedRows matrix, Offset* __restrict__ counts) {
    for_each_block_row(matrix, [&](const BlockRowTile& tile, Index block_row) {
        const Index blocks = walk_block_row(
            tile, matrix, block_row, [](Index, Index) {}, [](Index, Index, Index, std::uint32_t) {});
        if (tile.thread_rank() != 0) return;
        counts[block_row + 1] = blocks;
        if (block_row == 0) counts[0] = 0;
    });
}

/// The compressed rows of blocks, from the prefix sums of their lengths. nonzeros: [blocks * size * size] the number of the
/// nonzero in each place of each block, row by row; no_item beforehand. Null: they are not listed.
__global__ void list_blocks(BlockedRows matrix, const Offset* __restrict__ sums, std::uint32_t* __restrict__ offsets,
                            Index* __restrict__ columns, std::uint32_t* __restrict__ nonzeros) {
    for_each_block_row(matrix, [&](const BlockRowTile& tile, Index block_row) {
        const Offset first = sums[block_row];
        if (tile.thread_rank() == 0) {
            offsets[block_row] = static_cast<std::uint32_t>(first);
            if (block_row == matrix.block_rows - 1)
                offsets[matrix.block_rows] = static_cast<std::uint32_t>(sums[block_row + 1]);
        }
        walk_block_row(
            tile, matrix, block_row, [&](Index k, Index block_column) { columns[first + k] = block_column; },
            [&](Index k, Index block_column, Index row_of_block, std::uint32_t nonzero) {
                if (nonzeros == nullptr) return;
                const Index column_of_block = matrix.columns[nonzero] - block_column * matrix.size;
                nonzeros[((first + k) * matrix.size + row_of_block) * matrix.size + column_of_block] = nonzero;
            });
    });
}

}  // namespace

WorkspaceArray<Offset> counted_blocks(Workspace& workspace, const PatternOnGpu& pattern, Index size) {
    if (size > tile_of_block_row) throw Unsuitable("a GPU finds no blocks of " + counted(size, "row"));
    const BlockedRows matrix(pattern, size);
    auto sums = workspace.make<Offset>(static_cast<std::size_t>(matrix.block_rows) + 1);
    count_blocks<<<matrix.thread_blocks(), block_threads, 0, workspace.stream()>>>(matrix, sums.data());
    check_launch("count_blocks");
    sum_up(workspace, sums);
    return sums;
}

BlocksOnGpu listed_blocks(Workspace& workspace, const PatternOnGpu& pattern, Index size, const WorkspaceArray<Offset>& sums,
                          std::size_t count, std::uint32_t* nonzeros) {
    const BlockedRows matrix(pattern, size);
    BlocksOnGpu blocks{matrix.block_rows, workspace.make<std::uint32_t>(sums.size()), workspace.make<Index>(count)};
    list_blocks<<<matrix.thread_blocks(), block_threads, 0, workspace.stream()>>>(matrix, sums.data(), blocks.offsets.data(),
                                                                                  blocks.columns.data(), nonzeros);
    check_launch("list_blocks");
    return blocks;
}

}  // namespace workbench
