// Sliced ELL of rows, or of rows of blocks, from the rows in their order.
#include "kernels/prepare/slices_on_gpu.cuh"

#include "core/text/words.hpp"
#include "kernels/formats/blocks/layout.hpp"

namespace workbench {
namespace {

/// The rows, and the size of the matrix for `sell`. Throws Unsuitable if a slice may be too large.
template <ValueType Value>
RowsToSlice rows_of(const StorageTask<Value>& task, const ReorderedRows& rows, auto& sell) {
    sell.row_count = task.matrix.rows;
    sell.column_count = task.matrix.columns;
    // A row of blocks has at most the entries of all its rows.
    const Offset area = Offset{rows.block_size} * rows.block_size;
    if (Offset{task.longest} * rows.block_size * area * sell.slice_height > slicing::largest_slice) {
        throw Unsuitable("a slice may have more than 2^31 slots");
    }
    const bool has_values = rows.nonzeros_of_blocks.address() != nullptr;  // they may have been taken
    return {rows.offsets.as<const Offset>(),
            rows.columns.data(),
            rows.entries.as<const std::uint32_t>(),
            rows.rows,
            rows.nonzeros_of_blocks.as<const std::uint32_t>(),
            has_values ? static_cast<Index>(area) : 1};
}

template <ValueType Value>
Index slice_height(const StorageTask<Value>& task, const RowSlices& storage) {
    if (storage.slice_height > 0) return storage.slice_height;
    const double mean = static_cast<double>(task.matrix.nonzeros) / task.matrix.rows;
    return 32 / (storage.threads_per_row > 0 ? storage.threads_per_row : sell_threads_for(mean));
}

template <typename Stored, typename ColumnIndex, bool with_lengths, ValueType Value>
void store_sell(const StorageTask<Value>& task, const ReorderedRows& rows, const RowSlices& storage, Coding<Value> coding) {
    Sell<Stored, ColumnIndex, DeviceArray, with_lengths> sell;
    sell.threads_per_row = storage.threads_per_row;
    sell.split_length = storage.split_length;
    sell.slice_height = slice_height(task, storage);
    store_slices<Stored>(task, rows_of(task, rows, sell), std::move(coding), sell);
    if constexpr (with_lengths) sell.row_lengths = lengths_of_rows(task, rows);
    DeviceArray<Index> lengths;
    if (reads_lengths(view_of(sell), task.matrix.nonzeros, task.longest)) lengths = lengths_of_rows(task, rows);
    multiply_by(task, rows, std::move(sell), std::move(lengths));
}
template <typename Stored, typename ColumnIndex, ValueType Value>
void store_sell(const StorageTask<Value>& task, const ReorderedRows& rows, const RowSlices& storage, Coding<Value> coding) {
    storage.with_lengths ? store_sell<Stored, ColumnIndex, true>(task, rows, storage, std::move(coding))
                         : store_sell<Stored, ColumnIndex, false>(task, rows, storage, std::move(coding));
}

/// As FillRows of the host.
template <ValueType Value>
bool has_wide_slices(const StorageTask<Value>& task, const ReorderedRows& rows, const RowSlices& storage) {
    Sell<Value, Index, DeviceArray> sell;
    sell.slice_height = slice_height(task, storage);
    const MeasuredSlices slices = measured(task, rows_of(task, rows, sell), sell.slice_height, Index{padding_column} - 1);
    const Offset wide = task.workspace.download_item(slices.wide, slices.count());
    return is_mostly_wide(static_cast<double>(wide) / static_cast<double>(slices.count() + 1));
}

}  // namespace

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const RowSlices& storage) {
    if (storage.columns == DeviceColumns::in_words) {
        return store_sell<Coded<Value, std::uint32_t>, InWords>(task, rows, storage, coded(task, most_values_of_words));
    }
    if constexpr (std::is_same_v<Value, double>) {
        if (const Rounding rounding = rounding_of(storage.values); rounding != Rounding::none) {
            Coding<Value> coding = rounded(task, rounding);
            return rounding == Rounding::f32 ? store_sell<float, std::uint16_t, false>(task, rows, storage, std::move(coding))
                                             : store_sell<Bf16, std::uint16_t, false>(task, rows, storage, std::move(coding));
        }
    } else if (storage.values == DeviceValues::rounded_bf16) {
        throw Unsuitable("values = \"rounded_bf16\" is for values of f64");
    }
    const bool automatic = storage.columns == DeviceColumns::automatic;
    const bool is_short = automatic ? !has_wide_slices(task, rows, storage) : storage.columns == DeviceColumns::of_16_bits;
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, Coding<Value> coding) {
        is_short ? store_sell<Stored, std::uint16_t>(task, rows, storage, std::move(coding))
                 : store_sell<Stored, Index>(task, rows, storage, std::move(coding));
    });
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const BlockSlices& storage) {
    const auto store = [&]<typename Stored>(std::type_identity<Stored>, Index threads, Coding<Value> coding) {
        BlockSell<Stored, DeviceArray> sell;
        sell.block_size = rows.block_size;
        sell.threads_per_row = threads;
        sell.slice_height = 32 / threads;
        store_slices<Stored>(task, rows_of(task, rows, sell), std::move(coding), sell);
        task.result.note_arrays(sell);
        task.result.own_kernel = block_sell_kernel_on_gpu<Value>(std::move(sell), task.device);
    };
    if (storage.values == DeviceValues::dictionary) {
        if (rows.block_size == 1) throw Unsuitable("blocks of one value have no dictionary");
        return store(std::type_identity<CodedBlock<Value>>{}, 1, coded_blocks(task, rows));
    }
    const Index threads = storage.threads_per_row > 0
                              ? storage.threads_per_row
                              : block_sell_threads_for(rows.block_size, static_cast<Offset>(rows.columns.size()), rows.rows);
    store(std::type_identity<Value>{}, threads, {});
}

template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const RowSlices&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const RowSlices&);
template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const BlockSlices&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const BlockSlices&);

}  // namespace workbench
