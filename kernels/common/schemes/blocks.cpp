#include "kernels/common/schemes/blocks.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "core/contract/errors.hpp"
#include "core/matrix/block_rows.hpp"
#include "core/matrix/host_array.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

constexpr int block_row_chunk = 64;  // block rows that a thread of the host takes at a time

/// The number of blocks before each block row, and of all. [block rows + 1]
template <typename Value>
HostArray<Offset> block_offsets(const CsrOnHost<Value>& matrix, Index size) {
    const Index block_rows = block_count_of(matrix.rows, size);
    HostArray<Offset> offsets(std::size_t(block_rows) + 1, 0);
    for_each_in_parallel(block_rows, block_row_chunk, [&](std::int64_t block_row) {
        Offset blocks = 0;
        walk_block_row(
            matrix, {size, size}, static_cast<Index>(block_row), [&](Index) { ++blocks; }, [](Index, Offset) {});
        offsets[block_row + 1] = blocks;
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    return offsets;
}

}  // namespace

template <typename Value>
Offset count_blocks(const CsrOnHost<Value>& matrix, Index size) {
    return block_offsets(matrix, size).back();
}

template <ValueType Value, typename MatrixValue>
Index choose_block_size(const CsrOnHost<MatrixValue>& matrix, std::span<const Index> sizes) {
    Index best = 0;
    Offset fewest_bytes = std::numeric_limits<Offset>::max();
    for (const Index size : sizes) {
        const Offset bytes_per_block = Offset{size} * size * Offset{sizeof(Value)} + Offset{sizeof(Index)};
        const Offset bytes = count_blocks(matrix, size) * bytes_per_block +
                             (Offset{block_count_of(matrix.rows, size)} + 1) * Offset{sizeof(Index)};
        if (bytes >= fewest_bytes) continue;
        fewest_bytes = bytes;
        best = size;
    }
    return best;
}

template <ValueType Value, typename MatrixValue>
Blocks<Value, HostArray> build_blocks(const CsrOnHost<MatrixValue>& matrix, Index size, const SlotBound& bound) {
    const HostArray<Offset> offsets = block_offsets(matrix, size);
    const Offset count = offsets.back();
    const Offset area = Offset{size} * size;
    require_bounded_slots(fmt::format("{} blocks of {} x {}", count, size, size),
                          static_cast<double>(count) * static_cast<double>(area), matrix.row_offsets.back(), sizeof(Value),
                          bound);
    if (count > std::numeric_limits<Index>::max()) {
        throw Unsuitable(
            fmt::format("{} blocks of {} x {}, but block offsets of 32 bits reach {}; larger blocks (block_size) "
                        "are fewer",
                        count, size, size, std::numeric_limits<Index>::max()));
    }
    Blocks<Value, HostArray> blocks;
    blocks.block_size = size;
    blocks.block_offsets.assign(offsets.begin(), offsets.end());
    make_zeros(blocks.block_columns, count);
    make_zeros(blocks.values, count * area);
    for_each_in_parallel(blocks.block_rows(), block_row_chunk, [&](std::int64_t block_row) {
        Offset block = offsets[block_row] - 1;
        const auto begin_block = [&](Index block_column) { blocks.block_columns[++block] = block_column; };
        const auto store = [&](Index r, Offset position) {
            const Index c = matrix.column_indices[position] - blocks.block_columns[block] * size;
            blocks.values[(block * size + r) * size + c] = static_cast<Value>(matrix.values[position]);
        };
        walk_block_row(matrix, {size, size}, static_cast<Index>(block_row), begin_block, store);
    });
    return blocks;
}

// From the pipeline's matrix, and from layout csr.
template Offset count_blocks(const CsrOnHost<float>&, Index);
template Offset count_blocks(const CsrOnHost<double>&, Index);
template Index choose_block_size<float>(const CsrOnHost<float>&, std::span<const Index>);
template Index choose_block_size<float>(const CsrOnHost<double>&, std::span<const Index>);
template Index choose_block_size<double>(const CsrOnHost<double>&, std::span<const Index>);
template Blocks<float, HostArray> build_blocks(const CsrOnHost<float>&, Index, const SlotBound&);
template Blocks<float, HostArray> build_blocks(const CsrOnHost<double>&, Index, const SlotBound&);
template Blocks<double, HostArray> build_blocks(const CsrOnHost<double>&, Index, const SlotBound&);

}  // namespace workbench
