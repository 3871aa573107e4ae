// Orders of rows on the GPU: expands them from nodes, composes them, and moves rows to them.
//
// Races. Each thread writes items of its own number or of its own row.
#include <algorithm>
#include <utility>

#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

/// The longest rows that on_gpu::reorder_rows sorts, in time that grows with the square of the length.
constexpr std::int64_t longest_ranked = 1024;

/// A key for each entry of the moved rows: its new row, then its new column, of `bits` bits.
__global__ void key_by_place(PatternOnGpu pattern, const Index* __restrict__ old_rows, const Index* __restrict__ new_columns,
                             const Offset* __restrict__ offsets, int bits, std::uint64_t* __restrict__ keys,
                             std::uint32_t* __restrict__ numbers) {
    on_gpu::for_each_row(pattern.vertices, [&](Index row, unsigned lane) {
        const std::uint32_t from = pattern.offsets[old_rows[row]];
        const auto length = static_cast<std::uint32_t>(offsets[row + 1] - offsets[row]);
        for (std::uint32_t k = lane; k < length; k += on_gpu::lanes) {
            const Index column = new_columns[pattern.columns[from + k]];
            keys[offsets[row] + k] = static_cast<std::uint64_t>(row) << bits | static_cast<std::uint64_t>(column);
            numbers[offsets[row] + k] = from + k;
        }
    });
}

__global__ void take_columns(const std::uint64_t* __restrict__ keys, std::size_t count, int bits, Index* __restrict__ columns) {
    on_gpu::for_each_item(count,
                          [&](std::size_t i) { columns[i] = static_cast<Index>(keys[i] & ((std::uint64_t{1} << bits) - 1)); });
}

/// Sorts the entries of all rows at once, for rows of any length.
void sort_entries(Workspace& workspace, const RowMove& move, const Offset* offsets, Index* columns, std::uint32_t* numbers) {
    const auto rows = static_cast<std::size_t>(move.pattern.vertices);
    const auto entries = static_cast<std::size_t>(move.entries);
    const int bits = on_gpu::bits_of(static_cast<std::uint32_t>(std::max(rows, move.of_columns.to_new.size())));
    auto keys = workspace.make<std::uint64_t>(entries);
    auto sorted = workspace.make<std::uint32_t>(entries);
    key_by_place<<<blocks_of(rows * on_gpu::lanes, block_threads), block_threads, 0, workspace.stream()>>>(
        move.pattern, move.of_rows.to_old.data(), move.of_columns.to_new.data(), offsets, bits, keys.data(), sorted.data());
    check_launch("key_by_place");
    sort_pairs(workspace, keys, sorted, 0, 2 * bits);
    take_columns<<<blocks_of(entries, block_threads), block_threads, 0, workspace.stream()>>>(keys.data(), entries, bits,
                                                                                              columns);
    check_launch("take_columns");
    check_cuda(
        cudaMemcpyAsync(numbers, sorted.data(), entries * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, workspace.stream()),
        "cudaMemcpyAsync");
}

[[nodiscard]] WorkspaceArray<Index> copy_of(Workspace& workspace, const WorkspaceArray<Index>& array) {
    if (array.size() == 0) return {};
    auto copy = workspace.make<Index>(array.size());
    check_cuda(
        cudaMemcpyAsync(copy.data(), array.data(), array.size() * sizeof(Index), cudaMemcpyDeviceToDevice, workspace.stream()),
        "cudaMemcpyAsync");
    return copy;
}

}  // namespace

OrderBothWays both_ways(Workspace& workspace, const std::uint32_t* old_of_new, std::size_t count) {
    OrderBothWays order{workspace.make<Index>(count), workspace.make<Index>(count)};
    on_gpu::invert<<<blocks_of(count, block_threads), block_threads, 0, workspace.stream()>>>(
        old_of_new, count, order.to_old.data(), order.to_new.data());
    check_launch("invert");
    return order;
}

OrderBothWays copy_of(Workspace& workspace, const OrderBothWays& order) {
    return {copy_of(workspace, order.to_old), copy_of(workspace, order.to_new)};
}

template <typename Item>
void compose(Workspace& workspace, const Item* first, Item* second, std::size_t count) {
    on_gpu::compose<<<blocks_of(count, block_threads), block_threads, 0, workspace.stream()>>>(first, second, count);
    check_launch("compose");
}

void follow(Workspace& workspace, OrderBothWays& first, const OrderBothWays& second) {
    OrderBothWays both = copy_of(workspace, second);
    if (!first.is_natural()) {
        compose(workspace, first.to_old.data(), both.to_old.data(), both.to_old.size());
        compose(workspace, second.to_new.data(), first.to_new.data(), first.to_new.size());
        both.to_new = std::move(first.to_new);
    }
    first = std::move(both);
}

void expand(Workspace& workspace, const OrderBothWays& of_nodes, Index size, std::size_t count, Index* to_old, Index* to_new) {
    slicing::expand_order<<<blocks_of(count, block_threads), block_threads, 0, workspace.stream()>>>(
        of_nodes.to_old.data(), of_nodes.to_new.data(), static_cast<Index>(count), size, to_old, to_new);
    check_launch("expand_order");
}

OrderBothWays expanded(Workspace& workspace, const OrderBothWays& of_nodes, Index size, std::size_t count) {
    OrderBothWays of_rows{workspace.make<Index>(count), workspace.make<Index>(count)};
    expand(workspace, of_nodes, size, count, of_rows.to_old.data(), of_rows.to_new.data());
    return of_rows;
}

WorkspaceArray<Offset> move_rows(Workspace& workspace, const RowMove& move, Index* columns, std::uint32_t* numbers) {
    const auto rows = static_cast<std::size_t>(move.pattern.vertices);
    const auto count = static_cast<std::size_t>(move.entries);
    const cudaStream_t stream = workspace.stream();
    auto offsets = workspace.make<Offset>(rows + 1);
    on_gpu::measure_moved_rows<<<blocks_of(rows, block_threads), block_threads, 0, stream>>>(
        move.pattern.offsets, move.of_rows.to_old.data(), move.pattern.vertices, offsets.data());
    check_launch("measure_moved_rows");
    sum_up(workspace, offsets);
    if (move.are_natural) {
        check_cuda(cudaMemcpyAsync(columns, move.pattern.columns, count * sizeof(Index), cudaMemcpyDeviceToDevice, stream),
                   "cudaMemcpyAsync");
        on_gpu::number_items<<<blocks_of(count, block_threads), block_threads, 0, stream>>>(count, numbers);
        check_launch("number_items");
    } else if (move.longest > longest_ranked) {
        sort_entries(workspace, move, offsets.data(), columns, numbers);
    } else {
        on_gpu::reorder_rows<<<blocks_of(rows * on_gpu::lanes, block_threads), block_threads, 0, stream>>>(
            move.pattern.offsets, move.pattern.columns, move.of_rows.to_old.data(), move.of_columns.to_new.data(),
            offsets.data(), move.pattern.vertices, columns, numbers);
        check_launch("reorder_rows");
    }
    return offsets;
}

template <ValueType Value>
void copy_values(const StorageTask<Value>& task, const std::uint32_t* numbers, std::size_t count, HostArray<double>& values) {
    auto ordered = task.workspace.template make<Value>(count);
    const cudaStream_t stream = task.workspace.stream();
    const Value* const input = task.values();
    if (numbers == nullptr) {
        check_cuda(cudaMemcpyAsync(ordered.data(), input, count * sizeof(Value), cudaMemcpyDeviceToDevice, stream),
                   "cudaMemcpyAsync");
    } else {
        slicing::gather_values<<<blocks_of(count, block_threads), block_threads, 0, stream>>>(
            numbers, count, slicing::ValueWriter<Value, Value>{input, ordered.data()});
        check_launch("gather_values");
    }
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if constexpr (std::is_same_v<Value, double>) {
        make_room(values, count);
        copy_from_device(task.device, static_cast<const double*>(ordered.data()), std::span(values));
    } else {
        const std::vector<Value> found = task.workspace.download(ordered);
        values.assign(found.begin(), found.end());
    }
}

template <ValueType Value>
void copy_lengths(const StorageTask<Value>& task, const PatternOnGpu& pattern, CsrMatrix& matrix) {
    check_cuda(cudaStreamSynchronize(task.workspace.stream()), "cudaStreamSynchronize");
    std::vector<std::uint32_t> offsets(static_cast<std::size_t>(pattern.vertices) + 1);
    copy_from_device(task.device, pattern.offsets, std::span(offsets));
    matrix.row_offsets.assign(offsets.begin(), offsets.end());
}

template <ValueType Value>
void copy_entries(const StorageTask<Value>& task, const PatternOnGpu& pattern, const std::uint32_t* numbers,
                  CsrMatrix& matrix) {
    make_room(matrix.column_indices, task.nonzeros());
    copy_from_device(task.device, pattern.columns, std::span(matrix.column_indices));
    copy_values(task, numbers, task.nonzeros(), matrix.values);
}

template void compose(Workspace&, const Index*, Index*, std::size_t);
template void compose(Workspace&, const std::uint32_t*, std::uint32_t*, std::size_t);
template void copy_values(const StorageTask<float>&, const std::uint32_t*, std::size_t, HostArray<double>&);
template void copy_values(const StorageTask<double>&, const std::uint32_t*, std::size_t, HostArray<double>&);
template void copy_lengths(const StorageTask<float>&, const PatternOnGpu&, CsrMatrix&);
template void copy_lengths(const StorageTask<double>&, const PatternOnGpu&, CsrMatrix&);
template void copy_entries(const StorageTask<float>&, const PatternOnGpu&, const std::uint32_t*, CsrMatrix&);
template void copy_entries(const StorageTask<double>&, const PatternOnGpu&, const std::uint32_t*, CsrMatrix&);

}  // namespace workbench
