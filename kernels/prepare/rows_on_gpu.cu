// Stores whole rows on the GPU: one after another, or padded to the longest.
//
// Races. Each thread writes items of its own number or of its own row; flags are set by writes of one same value, and the
// nonzeros of lines are chosen by atomics.
#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/system/buffered_rows.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

using on_gpu::for_each_item;
using on_gpu::for_each_row;

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
        nonzeros[slot] = is_padding ? no_item : matrix.entries[entry];
    });
}

/// A nonzero of each row, or of each column. chosen: no_item beforehand.
__global__ void choose_of_lines(ReorderedOnGpu matrix, bool of_rows, std::uint32_t* chosen) {
    for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        for (Offset i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += on_gpu::lanes) {
            atomicMin(chosen + (of_rows ? row : matrix.columns[i]), matrix.entries[i]);
        }
    });
}

__global__ void note_chosen(ReorderedOnGpu matrix, bool of_rows, const std::uint32_t* __restrict__ chosen,
                            std::uint32_t* __restrict__ of_nonzeros) {
    for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        for (Offset i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += on_gpu::lanes) {
            of_nonzeros[matrix.entries[i]] = chosen[of_rows ? row : matrix.columns[i]];
        }
    });
}

__global__ void measure_rows(const Offset* __restrict__ offsets, Index rows, Index* __restrict__ lengths) {
    for_each_item(static_cast<std::size_t>(rows),
                  [&](std::size_t row) { lengths[row] = static_cast<Index>(offsets[row + 1] - offsets[row]); });
}

/// One nonzero stands for all of its row, or of its column.
struct LinesOnGpu {
    DeviceMemory items;   // std::uint32_t [lines] its number in the input; no_item: the line has none
    DeviceMemory equals;  // std::uint32_t [nonzeros] its number, for each nonzero of the line
};

/// Throws Unsuitable if the values of a line are not all equal.
template <ValueType Value>
LinesOnGpu lines_of(const StorageTask<Value>& task, const ReorderedRows& rows, DeviceValues values) {
    const cudaStream_t stream = task.workspace.stream();
    const bool by_row = values == DeviceValues::by_row;
    const auto count = static_cast<std::size_t>(by_row ? rows.rows : task.matrix.columns);
    const unsigned blocks = blocks_of(static_cast<std::size_t>(rows.rows) * on_gpu::lanes, block_threads);
    LinesOnGpu lines{room_for<std::uint32_t>(task.device, count, "nonzeros of lines"),
                     room_for<std::uint32_t>(task.device, task.input_nonzeros(), "lines of nonzeros")};
    auto* const items = lines.items.template as<std::uint32_t>();
    check_cuda(cudaMemsetAsync(items, 0xFF, lines.items.bytes(), stream), "cudaMemsetAsync");
    choose_of_lines<<<blocks, block_threads, 0, stream>>>(rows.view(task.longest), by_row, items);
    check_launch("choose_of_lines");
    note_chosen<<<blocks, block_threads, 0, stream>>>(rows.view(task.longest), by_row, items,
                                                      lines.equals.template as<std::uint32_t>());
    check_launch("note_chosen");
    if (!are_equal_on_gpu(task.device, task.items(), lines.equals.template as<const std::uint32_t>(), stream)) {
        throw Unsuitable(by_row ? "the values of a row are not all equal" : "the values of a column are not all equal");
    }
    return lines;
}

template <ValueType Value>
bool has_equal_lines(const StorageTask<Value>& task, const ReorderedRows& rows, DeviceValues values) {
    try {
        (void)lines_of(task, rows, values);
        return true;
    } catch (const Unsuitable&) {
        return false;
    }
}

/// Fills the arrays of rows one by one, with columns of 32 bits. store_values(csr) makes those of values.
template <ValueType Value>
void fill_csr(const StorageTask<Value>& task, ReorderedRows& rows, auto& csr, const auto& store_values) {
    const std::size_t nonzeros = rows.columns.size();
    DeviceMemory columns = room_for<Index>(task.device, nonzeros, "columns of csr");
    check_cuda(cudaMemcpyAsync(columns.address(), rows.columns.data(), columns.bytes(), cudaMemcpyDeviceToDevice,
                               task.workspace.stream()),
               "cudaMemcpyAsync");
    csr.row_count = task.matrix.rows;
    csr.column_count = task.matrix.columns;
    store_values(csr);
    csr.row_offsets = {std::move(rows.offsets), Offset{rows.rows} + 1};
    csr.column_indices = {std::move(columns), static_cast<Offset>(nonzeros)};
}

template <ValueType Value>
void store_csr(const StorageTask<Value>& task, ReorderedRows& rows, auto csr, const auto& store_values) {
    fill_csr(task, rows, csr, store_values);
    task.result.note_arrays(csr);
    // The kernel reads offsets and columns on the device's stream.
    check_cuda(cudaStreamSynchronize(task.workspace.stream()), "cudaStreamSynchronize");
    const Offset vectors = Offset{csr.row_count} + csr.column_count;
    const std::int64_t bytes = task.result.own_facts.bytes + vectors * static_cast<Offset>(sizeof(Value));
    task.result.own_kernel = csr_kernel_on_gpu<Value>(std::move(csr), bytes, task.device);
    if (rows.rows_of_y.empty()) return;
    const std::int64_t moved = task.result.own_kernel->own_bytes_to_move().value_or(bytes);
    task.result.own_kernel =
        std::make_unique<BufferedRows<Value>>(std::move(task.result.own_kernel), rows.rows_of_y, task.device, moved);
}

template <typename Stored, ValueType Value>
void store_csr(const StorageTask<Value>& task, ReorderedRows& rows, Coding<Value> coding) {
    using Arrays =
        std::conditional_t<std::is_same_v<Stored, Constant<Value>>, CsrPattern<Value, DeviceArray>, Csr<Stored, DeviceArray>>;
    store_csr(task, rows, Arrays{}, [&](Arrays& csr) {
        csr.values =
            gathered_values<Stored>(task, std::move(rows.entries), rows.columns.size(), std::move(coding), "values of csr");
    });
}

/// One value for each row or column.
template <ValueType Value>
void store_csr_of_lines(const StorageTask<Value>& task, ReorderedRows& rows, DeviceValues values) {
    if (task.entries_of_share != nullptr) throw Unsuitable("values of the rows or columns of a share");
    LinesOnGpu lines = lines_of(task, rows, values);
    const std::size_t count = lines.items.bytes() / sizeof(std::uint32_t);
    Coding<Value> coding;
    coding.equals = std::move(lines.equals);
    store_csr(task, rows, CsrPattern<Value, DeviceArray>{}, [&](auto& csr) {
        csr.values = {1, task.matrix.nonzeros};
        auto& of_lines = values == DeviceValues::by_row ? csr.row_values : csr.column_values;
        of_lines = gathered_values<Value>(task, std::move(lines.items), count, std::move(coding), "values of lines");
    });
}

/// Rows one by one of layout `rows`.
template <typename Stored, ValueType Value>
void store_one_by_one(const StorageTask<Value>& task, ReorderedRows& rows, const WholeRows& storage, Coding<Value> coding) {
    RowsOfShape<one_shape, Stored, DeviceArray> one;
    one.threads_per_row = storage.threads_per_row;
    fill_csr(task, rows, one, [&](auto& csr) {
        csr.values =
            gathered_values<Stored>(task, std::move(rows.entries), rows.columns.size(), std::move(coding), "values of rows");
    });
    multiply_by(task, rows, std::move(one));
}

template <typename Stored, ValueType Value>
void store_csr16(const StorageTask<Value>& task, ReorderedRows& rows, const WholeRows& storage, Coding<Value> coding) {
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
    csr16.threads_per_row = storage.threads_per_row;
    csr16.row_count = task.matrix.rows;
    csr16.column_count = task.matrix.columns;
    csr16.row_offsets = {std::move(rows.offsets), Offset{rows.rows} + 1};
    csr16.first_columns = {std::move(first_columns), Offset{rows.rows}};
    csr16.columns_from_first = {std::move(columns), static_cast<Offset>(nonzeros)};
    csr16.values = gathered_values<Stored>(task, std::move(rows.entries), nonzeros, std::move(coding), "values of csr16");
    multiply_by(task, rows, std::move(csr16));
}

/// Fills the arrays that ell and ellr share.
template <typename Stored, ValueType Value>
void pad(const StorageTask<Value>& task, const ReorderedRows& rows, const PaddedRows& storage, Coding<Value> coding,
         auto& ell) {
    ell.threads_per_row = storage.threads_per_row;
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
    ell.values = gathered_values<Stored>(task, std::move(nonzeros), slots, std::move(coding), "values of padded rows");
}

template <typename Stored, ValueType Value>
void store_padded(const StorageTask<Value>& task, const ReorderedRows& rows, const PaddedRows& storage, Coding<Value> coding) {
    if (!storage.with_lengths) {
        RowsOfShape<ell_shape, Stored, DeviceArray> ell;
        pad<Stored>(task, rows, storage, std::move(coding), ell);
        return multiply_by(task, rows, std::move(ell));
    }
    RowsOfShape<ellr_shape, Stored, DeviceArray> ellr;
    pad<Stored>(task, rows, storage, std::move(coding), ellr);
    ellr.row_lengths = lengths_of_rows(task, rows);
    multiply_by(task, rows, std::move(ellr));
}

}  // namespace

template <ValueType Value>
DeviceArray<Index> lengths_of_rows(const StorageTask<Value>& task, const ReorderedRows& rows) {
    const auto count = static_cast<std::size_t>(rows.rows);
    DeviceMemory lengths = room_for<Index>(task.device, count, "lengths of rows");
    measure_rows<<<blocks_of(count, block_threads), block_threads, 0, task.workspace.stream()>>>(
        rows.offsets.as<const Offset>(), rows.rows, lengths.as<Index>());
    check_launch("measure_rows");
    check_cuda(cudaStreamSynchronize(task.workspace.stream()), "cudaStreamSynchronize");
    return {std::move(lengths), Offset{rows.rows}};
}

template <ValueType Value>
ValueFacts facts_on_gpu(const StorageTask<Value>& task, const ReorderedRows& rows, const DeviceStorage& storage,
                        Index node_size) {
    ValueFacts facts{.precision = precision_of<Value>, .columns = task.matrix.columns, .node_size = node_size};
    const cudaStream_t stream = task.workspace.stream();
    const auto codes = code_on_gpu<Value>(task.device, task.items(), most_coded_values, stream);
    if (codes) facts.distinct = static_cast<Offset>(codes->dictionary.size());
    if constexpr (std::is_same_v<Value, double>) {
        facts.exact_in_f32 = fit_on_gpu(task.device, task.items(), Rounding::none, stream);
    }
    if (const auto* const whole = std::get_if<WholeRows>(&storage); whole != nullptr && whole->values_of_lines) {
        facts.one_a_row = has_equal_lines(task, rows, DeviceValues::by_row);
        facts.one_a_column = has_equal_lines(task, rows, DeviceValues::by_column);
    }
    const bool in_blocks = std::holds_alternative<BlockSlices>(storage);
    if (!in_blocks || node_size == 1 || rows.block_size != node_size) return facts;
    const auto blocks = code_on_gpu<Value>(task.device, items_of_blocks(task, rows), most_coded_blocks, stream);
    if (blocks) facts.distinct_blocks = static_cast<Offset>(blocks->dictionary.size()) / (node_size * node_size);
    return facts;
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const WholeRows& storage) {
    if (storage.values == DeviceValues::by_row || storage.values == DeviceValues::by_column) {
        return store_csr_of_lines(task, rows, storage.values);
    }
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, Coding<Value> coding) {
        storage.short_columns     ? store_csr16<Stored>(task, rows, storage, std::move(coding))
        : storage.values_of_lines ? store_csr<Stored>(task, rows, std::move(coding))
                                  : store_one_by_one<Stored>(task, rows, storage, std::move(coding));
    });
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const PaddedRows& storage) {
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, Coding<Value> coding) {
        store_padded<Stored>(task, rows, storage, std::move(coding));
    });
}

template DeviceArray<Index> lengths_of_rows(const StorageTask<float>&, const ReorderedRows&);
template DeviceArray<Index> lengths_of_rows(const StorageTask<double>&, const ReorderedRows&);
template ValueFacts facts_on_gpu(const StorageTask<float>&, const ReorderedRows&, const DeviceStorage&, Index);
template ValueFacts facts_on_gpu(const StorageTask<double>&, const ReorderedRows&, const DeviceStorage&, Index);
template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const WholeRows&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const WholeRows&);
template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const PaddedRows&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const PaddedRows&);

}  // namespace workbench
