// A group of lanes writes one row of the result and rows do not overlap, so threads cannot race.
#include <bit>

#include "kernels/prepare/primitives.cuh"
#include "kernels/prepare/staging.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

__global__ void find_lengths(const std::uint32_t* __restrict__ old_offsets, const Index* __restrict__ old_of_new, Index rows,
                             Offset* __restrict__ offsets) {
    for (std::size_t row = blockIdx.x * std::size_t{block_threads} + threadIdx.x; row < static_cast<std::size_t>(rows);
         row += gridDim.x * std::size_t{block_threads}) {
        const Index old = old_of_new[row];
        offsets[row + 1] = old_offsets[old + 1] - old_offsets[old];
        if (row == 0) offsets[0] = 0;
    }
}

/// Calls store(position in the result, position in the old matrix, row of the result) for every entry.
template <int lanes, typename Store>
__device__ void for_each_entry(const std::uint32_t* __restrict__ old_offsets, const Index* __restrict__ old_of_new,
                               const Offset* __restrict__ offsets, Index rows, const Store& store) {
    const std::size_t first = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / lanes;
    for (std::size_t row = first; row < static_cast<std::size_t>(rows); row += gridDim.x * std::size_t{block_threads} / lanes) {
        const Offset to = offsets[row];
        const Offset length = offsets[row + 1] - to;
        const std::uint32_t from = old_offsets[old_of_new[row]];
        for (Offset k = threadIdx.x % lanes; k < length; k += lanes) store(to + k, from + k, row);
    }
}

template <int lanes>
__global__ void move_rows(const std::uint32_t* __restrict__ old_offsets, const Index* __restrict__ old_of_new,
                          const Offset* __restrict__ offsets, Index rows, const Index* __restrict__ old_columns,
                          const std::uint64_t* __restrict__ old_values, Index* __restrict__ columns,
                          std::uint64_t* __restrict__ values) {
    for_each_entry<lanes>(old_offsets, old_of_new, offsets, rows, [&](Offset to, Offset from, std::size_t) {
        columns[to] = old_columns[from];
        values[to] = old_values[from];
    });
}

/// Like the kernel above, but stores row and new column as one sort key.
template <int lanes>
__global__ void key_rows(const std::uint32_t* __restrict__ old_offsets, const Index* __restrict__ old_of_new,
                         const Offset* __restrict__ offsets, Index rows, const Index* __restrict__ old_columns,
                         const std::uint64_t* __restrict__ old_values, const Index* __restrict__ new_of_old_column,
                         int column_bits, std::uint64_t* __restrict__ keys, std::uint64_t* __restrict__ values) {
    for_each_entry<lanes>(old_offsets, old_of_new, offsets, rows, [&](Offset to, Offset from, std::size_t row) {
        keys[to] = std::uint64_t{row} << column_bits | static_cast<std::uint64_t>(new_of_old_column[old_columns[from]]);
        values[to] = old_values[from];
    });
}

__global__ void take_columns(const std::uint64_t* __restrict__ keys, std::size_t count, int column_bits,
                             Index* __restrict__ columns) {
    const std::uint64_t mask = (std::uint64_t{1} << column_bits) - 1;
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        columns[i] = static_cast<Index>(keys[i] & mask);
    }
}

/// The moved arrays, on the GPU.
struct Moved {
    WorkspaceArray<std::uint32_t> old_offsets;
    WorkspaceArray<Index> old_of_new;
    WorkspaceArray<Offset> offsets;
    WorkspaceArray<Index> old_columns;
    WorkspaceArray<std::uint64_t> old_values;
    WorkspaceArray<Index> columns;
    WorkspaceArray<std::uint64_t> values;
};

template <int lanes>
void move(Workspace& workspace, Moved& moved, Index rows, const Permutation& column_order, bool columns_move) {
    const unsigned blocks = blocks_of(static_cast<std::size_t>(rows) * lanes, block_threads);
    const std::size_t nonzeros = moved.old_columns.size();
    if (!columns_move) {
        moved.columns = workspace.make<Index>(nonzeros);
        move_rows<lanes><<<blocks, block_threads, 0, workspace.stream()>>>(
            moved.old_offsets.data(), moved.old_of_new.data(), moved.offsets.data(), rows, moved.old_columns.data(),
            moved.old_values.data(), moved.columns.data(), moved.values.data());
        check_launch("move_rows");
        return;
    }
    const auto new_of_old = workspace.upload<Index>(column_order.new_of_old());
    const int column_bits = std::bit_width(static_cast<std::uint32_t>(column_order.size()));
    const int row_bits = std::bit_width(static_cast<std::uint32_t>(rows));
    auto keys = workspace.make<std::uint64_t>(nonzeros);
    key_rows<lanes><<<blocks, block_threads, 0, workspace.stream()>>>(
        moved.old_offsets.data(), moved.old_of_new.data(), moved.offsets.data(), rows, moved.old_columns.data(),
        moved.old_values.data(), new_of_old.data(), column_bits, keys.data(), moved.values.data());
    check_launch("key_rows");
    moved.old_values = {};
    sort_pairs(workspace, keys, moved.values, 0, column_bits + row_bits);
    moved.columns = std::move(moved.old_columns);
    take_columns<<<blocks_of(nonzeros, block_threads), block_threads, 0, workspace.stream()>>>(
        keys.data(), nonzeros, column_bits, moved.columns.data());
    check_launch("take_columns");
}

}  // namespace

CsrMatrix permute_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Permutation& row_order,
                         const Permutation& column_order) {
    CsrMatrix result;
    result.rows = matrix.rows;
    result.columns = matrix.columns;
    make_room(result.row_offsets, matrix.row_offsets.size());
    make_room(result.column_indices, matrix.column_indices.size());
    make_room(result.values, matrix.values.size());
    Moved moved;
    moved.old_offsets = workspace.upload_narrow(std::span(matrix.row_offsets));
    moved.old_of_new = workspace.upload<Index>(row_order.old_of_new());
    moved.offsets = workspace.make<Offset>(matrix.row_offsets.size());
    find_lengths<<<blocks_of(row_order.size(), block_threads), block_threads, 0, workspace.stream()>>>(
        moved.old_offsets.data(), moved.old_of_new.data(), matrix.rows, moved.offsets.data());
    check_launch("find_lengths");
    sum_up(workspace, moved.offsets);
    moved.old_columns = workspace.upload<Index>(std::span(matrix.column_indices));
    moved.old_values = workspace.upload<std::uint64_t>(std::span(matrix.values));
    moved.values = workspace.make<std::uint64_t>(matrix.values.size());
    const bool columns_move = !column_order.is_identity();
    if (matrix.nonzeros() < Offset{16} * matrix.rows) {
        move<8>(workspace, moved, matrix.rows, column_order, columns_move);
    } else {
        move<32>(workspace, moved, matrix.rows, column_order, columns_move);
    }

    workspace.download(moved.offsets, std::span(result.row_offsets));
    workspace.download(moved.columns, std::span(result.column_indices));
    workspace.download(moved.values, std::span(result.values));
    return result;
}

}  // namespace workbench
