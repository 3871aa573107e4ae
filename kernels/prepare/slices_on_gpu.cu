// Slices of rows, or of rows of blocks, from the rows in their order; slicing.cuh has the kernels.
#include <utility>

#include "core/text/words.hpp"
#include "kernels/formats/block_sell/layout.hpp"
#include "kernels/formats/sell/layout.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

/// The kernel that reads the lengths of rows is prepared on the host only (SellLayout::by_lengths).
void require_slots(Offset slots, Offset nonzeros, const auto& sell) {
    if (sell.threads_per_row > 0) return;
    const Index height = sell.slice_height;
    const bool fills_warp = height == 32 || height == 16 || height == 8;
    if (!fills_warp) throw Unsuitable("slices of " + counted(height, "row") + " do not fill a warp");
    if (slots > 2 * nonzeros) throw Unsuitable("most slots would be padding");
}

/// Fills the arrays of slices. sell: Sell or BlockSell without arrays. distinct: for the coding of values.
template <typename Stored, ValueType Value>
void fill_slices(const StorageTask<Value>& task, const ReorderedRows& rows, const std::vector<Value>& distinct, auto& sell) {
    using ColumnIndex = std::remove_cvref_t<decltype(*sell.column_indices.data())>;
    constexpr bool of_blocks = requires { sell.block_size; };
    constexpr bool marks_padding = ConstantMember<ValueArray<Stored, DeviceArray>>;
    Workspace& workspace = task.workspace;
    Device& device = task.device;
    const cudaStream_t stream = workspace.stream();
    sell.row_count = task.matrix.rows;
    sell.column_count = task.matrix.columns;
    const Index slices = (rows.rows - 1) / sell.slice_height + 1;
    const Offset area = Offset{rows.block_size} * rows.block_size;
    // A row of blocks has at most the entries of all its rows.
    if (Offset{task.longest} * rows.block_size * area * sell.slice_height > slicing::largest_slice) {
        throw Unsuitable("a slice may have more than 2^31 slots");
    }
    const slicing::SliceShapes shapes{rows.offsets.as<const Offset>(), rows.columns.data(), rows.rows, sell.slice_height,
                                      slices};
    const auto count = static_cast<std::size_t>(slices);
    auto first_columns = room_for<Index>(device, count, "first columns of slices");
    auto slots = workspace.make<Offset>(count + 1);
    auto wide = workspace.make<Offset>(count + 1);
    auto wide_slots = workspace.make<Offset>(count + 1);
    const unsigned blocks = blocks_of(count, block_threads);
    const Index farthest = Index{padding_column} - (marks_padding ? 1 : 0);
    slicing::measure_slices<<<blocks, block_threads, 0, stream>>>(shapes, farthest, first_columns.as<Index>(), slots.data(),
                                                                  wide.data(), wide_slots.data());
    check_launch("measure_slices");
    for (auto* sums : {&slots, &wide, &wide_slots}) sum_up(workspace, *sums);
    const auto slot_count = static_cast<std::size_t>(workspace.download_item(slots, count));
    if constexpr (!of_blocks) require_slots(static_cast<Offset>(slot_count), task.matrix.nonzeros, sell);

    auto slice_offsets = room_for<Offset>(device, count + 1, "slice offsets");
    check_cuda(cudaMemcpyAsync(slice_offsets.address(), slots.data(), slice_offsets.bytes(), cudaMemcpyDeviceToDevice, stream),
               "cudaMemcpyAsync");
    const std::size_t value_count = slot_count * static_cast<std::size_t>(area);
    auto columns = room_for<ColumnIndex>(device, slot_count, "columns of slices");
    const unsigned of_slots = blocks_of(count * 32, block_threads);
    slicing::ColumnsOnGpu<ColumnIndex> filled{columns.template as<ColumnIndex>()};
    if constexpr (std::is_same_v<ColumnIndex, std::uint16_t>) {
        const auto wide_count = static_cast<std::size_t>(workspace.download_item(wide, count));
        const auto high_count = static_cast<std::size_t>(workspace.download_item(wide_slots, count));
        auto wide_offsets = room_for<Offset>(device, wide_count, "wide slices");
        auto high_columns = room_for<std::uint16_t>(device, high_count, "upper halves of columns");
        slicing::mark_wide_slices<<<blocks, block_threads, 0, stream>>>(wide.data(), wide_slots.data(), slices,
                                                                        first_columns.as<Index>(), wide_offsets.as<Offset>());
        check_launch("mark_wide_slices");
        filled = {filled.columns, first_columns.as<Index>(), wide_offsets.as<Offset>(), high_columns.as<std::uint16_t>()};
        sell.first_columns = {std::move(first_columns), static_cast<Offset>(count)};
        sell.wide_offsets = {std::move(wide_offsets), static_cast<Offset>(wide_count)};
        sell.high_columns = {std::move(high_columns), static_cast<Offset>(high_count)};
    }
    slicing::fill_columns<<<of_slots, block_threads, 0, stream>>>(shapes, slots.data(), marks_padding, filled);
    check_launch("fill_columns");
    auto nonzeros = room_for<std::uint32_t>(device, value_count, "the nonzeros of slices");
    slicing::number_slots<<<of_slots, block_threads, 0, stream>>>(
        shapes, slots.data(), rows.entries.as<const std::uint32_t>(), of_blocks ? rows.nonzeros_of_blocks.data() : nullptr,
        static_cast<unsigned>(area), nonzeros.template as<std::uint32_t>());
    check_launch("number_slots");
    sell.values = gathered_values<Stored>(task, std::move(nonzeros), value_count, distinct, "values of slices");
    sell.slice_offsets = {std::move(slice_offsets), static_cast<Offset>(count + 1)};
    sell.column_indices = {std::move(columns), static_cast<Offset>(slot_count)};
    task.result.note_arrays(sell);
}

template <typename Stored, typename ColumnIndex, ValueType Value>
void store_sell(const StorageTask<Value>& task, const ReorderedRows& rows, const RowSlices& storage,
                const std::vector<Value>& distinct) {
    Sell<Stored, ColumnIndex, DeviceArray> sell;
    sell.threads_per_row = storage.threads_per_row;
    sell.split_length = storage.split_length;
    const double mean = static_cast<double>(task.matrix.nonzeros) / task.matrix.rows;
    const Index threads = storage.threads_per_row > 0 ? storage.threads_per_row : sell_threads_for(mean);
    sell.slice_height = storage.slice_height > 0 ? storage.slice_height : 32 / threads;
    fill_slices<Stored>(task, rows, distinct, sell);
    task.result.own_kernel = sell_kernel_on_gpu<Value, Stored, ColumnIndex>(std::move(sell), task.device);
}

}  // namespace

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const RowSlices& storage) {
    with_coding(task, storage.values, [&]<typename Stored>(std::type_identity<Stored>, const std::vector<Value>& distinct) {
        if (storage.short_columns) return store_sell<Stored, std::uint16_t>(task, rows, storage, distinct);
        if constexpr (std::is_same_v<Stored, Value> || std::is_same_v<Stored, Constant<Value>>) {
            store_sell<Stored, Index>(task, rows, storage, distinct);
        }
    });
}

template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const BlockSlices& storage) {
    BlockSell<Value, DeviceArray> sell;
    sell.block_size = rows.block_size;
    sell.threads_per_row = storage.threads_per_row > 0
                               ? storage.threads_per_row
                               : block_sell_threads_for(sell.block_size, static_cast<Offset>(rows.columns.size()), rows.rows);
    sell.slice_height = 32 / sell.threads_per_row;
    fill_slices<Value>(task, rows, {}, sell);
    task.result.own_kernel = block_sell_kernel_on_gpu<Value>(std::move(sell), task.device);
}

template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const RowSlices&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const RowSlices&);
template void store_on_gpu(const StorageTask<float>&, ReorderedRows&, const BlockSlices&);
template void store_on_gpu(const StorageTask<double>&, ReorderedRows&, const BlockSlices&);

}  // namespace workbench
