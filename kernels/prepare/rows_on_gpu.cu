// Moves rows to an order on the GPU, and stores whole rows there: one after another, or padded to the longest.
//
// Races. Each thread writes items of its own number or of its own row; flags are set by writes of one same value.
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/layout.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

using on_gpu::for_each_item;
using on_gpu::for_each_row;

/// The longest rows that on_gpu::reorder_rows sorts, in time that grows with the square of the length.
constexpr std::int64_t longest_ranked = 1024;

__global__ void number_entries(std::size_t count, std::uint32_t* __restrict__ numbers) {
    for_each_item(count, [&](std::size_t i) { numbers[i] = static_cast<std::uint32_t>(i); });
}

/// A key for each entry of the moved rows: its new row, then its new column, of `bits` bits.
__global__ void key_by_place(PatternOnGpu pattern, const Index* __restrict__ old_of_new, const Index* __restrict__ new_of_old,
                             const Offset* __restrict__ offsets, int bits, std::uint64_t* __restrict__ keys,
                             std::uint32_t* __restrict__ numbers) {
    for_each_row(pattern.vertices, [&](Index row, unsigned lane) {
        const std::uint32_t from = pattern.offsets[old_of_new[row]];
        const auto length = static_cast<std::uint32_t>(offsets[row + 1] - offsets[row]);
        for (std::uint32_t k = lane; k < length; k += on_gpu::lanes) {
            const Index column = new_of_old[pattern.columns[from + k]];
            keys[offsets[row] + k] = static_cast<std::uint64_t>(row) << bits | static_cast<std::uint64_t>(column);
            numbers[offsets[row] + k] = from + k;
        }
    });
}

__global__ void take_columns(const std::uint64_t* __restrict__ keys, std::size_t count, int bits, Index* __restrict__ columns) {
    for_each_item(count, [&](std::size_t i) { columns[i] = static_cast<Index>(keys[i] & ((std::uint64_t{1} << bits) - 1)); });
}

/// Sorts the entries of all rows at once, for rows of any length.
void sort_entries(Workspace& workspace, const PatternOnGpu& pattern, std::size_t entries, const RowMove& move, Index* columns,
                  std::uint32_t* numbers) {
    const int bits = on_gpu::bits_of(static_cast<std::uint32_t>(pattern.vertices));
    auto keys = workspace.make<std::uint64_t>(entries);
    auto sorted = workspace.make<std::uint32_t>(entries);
    const auto rows = static_cast<std::size_t>(pattern.vertices);
    key_by_place<<<blocks_of(rows * on_gpu::lanes, block_threads), block_threads, 0, workspace.stream()>>>(
        pattern, move.to_old.data(), move.to_new.data(), move.offsets.data(), bits, keys.data(), sorted.data());
    check_launch("key_by_place");
    sort_pairs(workspace, keys, sorted, 0, 2 * bits);
    take_columns<<<blocks_of(entries, block_threads), block_threads, 0, workspace.stream()>>>(keys.data(), entries, bits,
                                                                                              columns);
    check_launch("take_columns");
    check_cuda(
        cudaMemcpyAsync(numbers, sorted.data(), entries * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, workspace.stream()),
        "cudaMemcpyAsync");
}

/// The first column of each row, 0 if it is empty, and columns from there. Sets *wide if 16 bits do not suffice.
__global__ void shorten_rows(ReorderedOnGpu matrix, Index* __restrict__ first_columns, std::uint16_t* __restrict__ columns,
                             int* wide) {
    for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        const Offset begin = matrix.offsets[row];
        const Offset end = matrix.offsets[row + 1];
        const Index first = begin < end ? matrix.columns[begin] : 0;
        if (lane == 0) first_columns[row] = first;
        for (Offset i = begin + lane; i < end; i += on_gpu::lanes) {
            const Index column = matrix.columns[i] - first;
            if (column > std::numeric_limits<std::uint16_t>::max()) *wide = 1;
            columns[i] = static_cast<std::uint16_t>(column);
        }
    });
}

/// The columns and the numbers of the nonzeros of all slots.
__global__ void pad_rows(ReorderedOnGpu matrix, Index width, bool row_major, Index* __restrict__ columns,
                         std::uint32_t* __restrict__ nonzeros) {
    const auto slots = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(width);
    const auto neighbours = static_cast<std::size_t>(row_major ? width : matrix.rows);
    for_each_item(slots, [&](std::size_t slot) {
        const auto outer = static_cast<Index>(slot / neighbours);
        const auto inner = static_cast<Index>(slot % neighbours);
        const Index row = row_major ? outer : inner;
        const Offset entry = matrix.offsets[row] + (row_major ? inner : outer);
        const bool is_padding = entry >= matrix.offsets[row + 1];
        columns[slot] = is_padding ? no_column : matrix.columns[entry];
        nonzeros[slot] = is_padding ? slicing::no_nonzero : matrix.entries[entry];
    });
}

__global__ void measure_rows(const Offset* __restrict__ offsets, Index rows, Index* __restrict__ lengths) {
    for_each_item(static_cast<std::size_t>(rows),
                  [&](std::size_t row) { lengths[row] = static_cast<Index>(offsets[row + 1] - offsets[row]); });
}

template <typename Stored, ValueType Value>
void store_csr(const StorageTask<Value>& task, ReorderedRows& rows, const std::vector<Value>& distinct) {
    const std::size_t nonzeros = rows.columns.size();
    DeviceMemory columns = room_for<Index>(task.device, nonzeros, "columns of csr");
    check_cuda(cudaMemcpyAsync(columns.address(), rows.columns.data(), columns.bytes(), cudaMemcpyDeviceToDevice,
                               task.workspace.stream()),
               "cudaMemcpyAsync");
    std::conditional_t<std::is_same_v<Stored, Constant<Value>>, CsrPattern<Value, DeviceArray>, Csr<Stored, DeviceArray>> csr;
    csr.row_count = task.matrix.rows;
    csr.column_count = task.matrix.columns;
    csr.row_offsets = {std::move(rows.offsets), Offset{rows.rows} + 1};
    csr.column_indices = {std::move(columns), static_cast<Offset>(nonzeros)};
    csr.values = gathered_values<Stored>(task, std::move(rows.entries), nonzeros, distinct, "values of csr");
    task.result.note_arrays(csr);
    // The kernel reads offsets and columns on the device's stream.
    check_cuda(cudaStreamSynchronize(task.workspace.stream()), "cudaStreamSynchronize");
    const Offset vectors = Offset{csr.row_count} + csr.column_count;
    task.result.own_kernel = csr_kernel_on_gpu<Value>(
        std::move(csr), task.result.own_facts.bytes + vectors * static_cast<Offset>(sizeof(Value)), task.device);
}

template <typename Stored, ValueType Value>
void store_csr16(const StorageTask<Value>& task, ReorderedRows& rows, const std::vector<Value>& distinct) {
    const std::size_t nonzeros = rows.columns.size();
    const auto count = static_cast<std::size_t>(rows.rows);
    Workspace& workspace = task.workspace;
    DeviceMemory first_columns = room_for<Index>(task.device, count, "first columns of csr16");
    DeviceMemory columns = room_for<std::uint16_t>(task.device, nonzeros, "columns of csr16");
    const auto wide = workspace.make<int>(1);
    check_cuda(cudaMemsetAsync(wide.data(), 0, sizeof(int), workspace.stream()), "cudaMemsetAsync");
    shorten_rows<<<blocks_of(count * on_gpu::lanes, block_threads), block_threads, 0, workspace.stream()>>>(
        rows.view(task.longest), first_columns.as<Index>(), columns.as<std::uint16_t>(), wide.data());
    check_launch("shorten_rows");
    if (workspace.download_item(wide, 0) != 0) throw Unsuitable("a row reaches over more columns than 16 bits count");
    RowsOfShape<csr16_shape, Stored, DeviceArray> csr16;
    csr16.row_count = task.matrix.rows;
    csr16.column_count = task.matrix.columns;
    csr16.row_offsets = {std::move(rows.offsets), Offset{rows.rows} + 1};
    csr16.first_columns = {std::move(first_columns), Offset{rows.rows}};
    csr16.columns_from_first = {std::move(columns), static_cast<Offset>(nonzeros)};
    csr16.values = gathered_values<Stored>(task, std::move(rows.entries), nonzeros, distinct, "values of csr16");
    task.result.note_arrays(csr16);
    task.result.own_kernel = rows_kernel_on_gpu<Value>(std::move(csr16), task.matrix.nonzeros, task.device);
}

/// Fills the arrays that ell and ellr share.
template <typename Stored, ValueType Value>
void pad(const StorageTask<Value>& task, const ReorderedRows& rows, const PaddedRows& storage,
         const std::vector<Value>& distinct, auto& ell) {
    ell.order = storage.row_major ? EllOrder::row_major : EllOrder::column_major;
    ell.row_count = task.matrix.rows;
    ell.column_count = task.matrix.columns;
    ell.width = static_cast<Index>(task.longest);
    if (static_cast<double>(ell.slot_count()) > storage.slots_per_nonzero * static_cast<double>(task.matrix.nonzeros)) {
        throw Unsuitable("rows as wide as the longest have more than slots_per_nonzero slots for each nonzero");
    }
    const auto slots = static_cast<std::size_t>(ell.slot_count());
    DeviceMemory columns = room_for<Index>(task.device, slots, "columns of padded rows");
    DeviceMemory nonzeros = room_for<std::uint32_t>(task.device, slots, "the nonzeros of padded rows");
    pad_rows<<<blocks_of(slots, block_threads), block_threads, 0, task.workspace.stream()>>>(
        rows.view(task.longest), ell.width, storage.row_major, columns.as<Index>(), nonzeros.as<std::uint32_t>());
    check_launch("pad_rows");
    ell.column_indices = {std::move(columns), static_cast<Offset>(slots)};
    ell.values = gathered_values<Stored>(task, std::move(nonzeros), slots, distinct, "values of padded rows");
}

template <typename Stored, ValueType Value>
void store_padded(const StorageTask<Value>& task, const ReorderedRows& rows, const PaddedRows& storage,
                  const std::vector<Value>& distinct) {
    if (!storage.with_lengths) {
        RowsOfShape<ell_shape, Stored, DeviceArray> ell;
        pad<Stored>(task, rows, storage, distinct, ell);
        task.result.note_arrays(ell);
        task.result.own_kernel = rows_kernel_on_gpu<Value>(std::move(ell), task.matrix.nonzeros, task.device);
        return;
    }
    RowsOfShape<ellr_shape, Stored, DeviceArray> ellr;
    pad<Stored>(task, rows, storage, distinct, ellr);
    const auto count = static_cast<std::size_t>(rows.rows);
    DeviceMemory lengths = room_for<Index>(task.device, count, "lengths of rows");
    measure_rows<<<blocks_of(count, block_threads), block_threads, 0, task.workspace.stream()>>>(
        rows.offsets.as<const Offset>(), rows.rows, lengths.as<Index>());
    check_launch("measure_rows");
    ellr.row_lengths = {std::move(lengths), Offset{rows.rows}};
    task.result.note_arrays(ellr);
    task.result.own_kernel = rows_kernel_on_gpu<Value>(std::move(ellr), task.matrix.nonzeros, task.device);
}

}  // namespace

RowMove move_rows(Workspace& workspace, const PatternOnGpu& pattern, std::int64_t entries, std::int64_t longest,
                  const std::uint32_t* old_rows, Index* columns, std::uint32_t* numbers) {
    const auto rows = static_cast<std::size_t>(pattern.vertices);
    const auto count = static_cast<std::size_t>(entries);
    const cudaStream_t stream = workspace.stream();
    RowMove move{workspace.make<Index>(rows), workspace.make<Index>(rows), workspace.make<Offset>(rows + 1)};
    on_gpu::invert<<<blocks_of(rows, block_threads), block_threads, 0, stream>>>(
        pattern.offsets, old_rows, pattern.vertices, move.to_old.data(), move.to_new.data(), move.offsets.data());
    check_launch("invert");
    sum_up(workspace, move.offsets);
    if (old_rows == nullptr) {
        check_cuda(cudaMemcpyAsync(columns, pattern.columns, count * sizeof(Index), cudaMemcpyDeviceToDevice, stream),
                   "cudaMemcpyAsync");
        number_entries<<<blocks_of(count, block_threads), block_threads, 0, stream>>>(count, numbers);
        check_launch("number_entries");
    } else if (longest > longest_ranked) {
        sort_entries(workspace, pattern, count, move, columns, numbers);
    } else {
        on_gpu::reorder_rows<<<blocks_of(rows * on_gpu::lanes, block_threads), block_threads, 0, stream>>>(
            pattern.offsets, pattern.columns, move.to_old.data(), move.to_new.data(), move.offsets.data(), pattern.vertices,
            columns, numbers);
        check_launch("reorder_rows");
    }
    return move;
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const WholeRows& storage) {
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, const std::vector<Value>& distinct) {
        storage.short_columns ? store_csr16<Stored>(task, rows, distinct) : store_csr<Stored>(task, rows, distinct);
    });
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const PaddedRows& storage) {
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, const std::vector<Value>& distinct) {
        store_padded<Stored>(task, rows, storage, distinct);
    });
}

template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const WholeRows&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const WholeRows&);
template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const PaddedRows&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const PaddedRows&);

}  // namespace workbench
