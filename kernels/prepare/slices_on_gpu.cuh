// Stores rows, or rows of blocks, in slices, for all layouts that have any; slicing.cuh has the kernels.
#pragma once

#include <bit>
#include <utility>

#include "kernels/common/schemes/short_columns.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {

/// Rows that go into slices.
struct RowsToSlice {
    const Offset* offsets = nullptr;         // [rows + 1]
    const Index* columns = nullptr;          // [entries]
    const std::uint32_t* entries = nullptr;  // [entries] their numbers in the input
    Index rows = 0;
    const std::uint32_t* nonzeros_of_blocks = nullptr;  // if entries are blocks whose values are stored one by one
    Index area = 1;                                     // of these blocks
};

/// The slices, and the places of their columns.
struct MeasuredSlices {
    slicing::SliceShapes shapes;
    WorkspaceArray<Offset> offsets;     // [slices + 1]
    WorkspaceArray<Offset> wide;        // [slices + 1] wide slices before each
    WorkspaceArray<Offset> wide_slots;  // [slices + 1] their slots
    WorkspaceArray<Index> reach;        // [1] from the first to the last column of a slice, at most
    DeviceMemory first_columns;         // Index [slices]

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(shapes.slices); }
    [[nodiscard]] unsigned blocks() const { return blocks_of(count(), block_threads); }
    [[nodiscard]] unsigned blocks_for_slots() const { return blocks_of(count() * 32, block_threads); }
};

/// farthest: from the first to the last column of a slice that is not wide. Slices have fewer than 2^31 slots.
template <ValueType Value>
MeasuredSlices measured(const StorageTask<Value>& task, const RowsToSlice& rows, Index height, Index farthest) {
    Workspace& workspace = task.workspace;
    const auto slices = static_cast<Index>((Offset{rows.rows} + height - 1) / height);
    const auto count = static_cast<std::size_t>(slices);
    MeasuredSlices made{{rows.offsets, rows.columns, rows.rows, height, slices},
                        workspace.make<Offset>(count + 1),
                        workspace.make<Offset>(count + 1),
                        workspace.make<Offset>(count + 1),
                        workspace.make<Index>(1),
                        room_for<Index>(task.device, count, "first columns of slices")};
    check_cuda(cudaMemsetAsync(made.reach.data(), 0, sizeof(Index), workspace.stream()), "cudaMemsetAsync");
    for (auto* sums : {&made.offsets, &made.wide, &made.wide_slots}) {
        check_cuda(cudaMemsetAsync(sums->data(), 0, sizeof(Offset), workspace.stream()), "cudaMemsetAsync");
    }
    slicing::measure_slices<<<made.blocks(), block_threads, 0, workspace.stream()>>>(
        made.shapes, farthest, made.first_columns.as<Index>(), made.offsets.data(), made.wide.data(), made.wide_slots.data(),
        made.reach.data());
    check_launch("measure_slices");
    for (auto* sums : {&made.offsets, &made.wide, &made.wide_slots}) sum_up(workspace, *sums);
    return made;
}

/// Fills columns of 32 bits, of 16 bits, or in the words of values, which have room for them. stored: as for store_slices.
template <ValueType Value>
void fill_columns(const StorageTask<Value>& task, MeasuredSlices& slices, std::size_t slots, bool marks_padding, auto& stored) {
    Workspace& workspace = task.workspace;
    const std::size_t count = slices.count();
    const auto fill = [&]<typename ColumnIndex>(slicing::ColumnsOnGpu<ColumnIndex> filled) {
        slicing::fill_columns<<<slices.blocks_for_slots(), block_threads, 0, workspace.stream()>>>(
            slices.shapes, slices.offsets.data(), marks_padding, filled);
        check_launch("fill_columns");
    };
    const auto room_for_columns = [&]<typename ColumnIndex>(DeviceArray<ColumnIndex>& array) {
        DeviceMemory memory = room_for<ColumnIndex>(task.device, slots, "columns of slices");
        auto* const columns = memory.template as<ColumnIndex>();
        array = {std::move(memory), static_cast<Offset>(slots)};
        return columns;
    };
    auto* const first_columns = slices.first_columns.as<Index>();
    if constexpr (HasColumns<decltype(stored.values)>) {
        fill(slicing::ColumnsOnGpu<std::uint32_t>{const_cast<std::uint32_t*>(stored.values.codes.data()), first_columns});
        stored.first_columns = {std::move(slices.first_columns), static_cast<Offset>(count)};
    } else if constexpr (HasShortColumns<std::remove_reference_t<decltype(stored)>>) {
        const auto wide_count = static_cast<std::size_t>(workspace.download_item(slices.wide, count));
        const auto high_count = static_cast<std::size_t>(workspace.download_item(slices.wide_slots, count));
        DeviceMemory wide_offsets = room_for<Offset>(task.device, wide_count, "wide slices");
        DeviceMemory high_columns = room_for<std::uint16_t>(task.device, high_count, "upper halves of columns");
        slicing::mark_wide_slices<<<slices.blocks(), block_threads, 0, workspace.stream()>>>(
            slices.wide.data(), slices.wide_slots.data(), slices.shapes.slices, first_columns, wide_offsets.as<Offset>());
        check_launch("mark_wide_slices");
        fill(slicing::ColumnsOnGpu<std::uint16_t>{room_for_columns(stored.column_indices), first_columns,
                                                  wide_offsets.as<const Offset>(), high_columns.as<std::uint16_t>()});
        stored.first_columns = {std::move(slices.first_columns), static_cast<Offset>(count)};
        stored.wide_offsets = {std::move(wide_offsets), static_cast<Offset>(wide_count)};
        stored.high_columns = {std::move(high_columns), static_cast<Offset>(high_count)};
    } else {
        fill(slicing::ColumnsOnGpu{room_for_columns(stored.column_indices)});
    }
}

/// Makes the arrays of slices, and has the result fill in their values. stored: without arrays, with its slice height.
template <typename Stored, ValueType Value>
void store_slices(const StorageTask<Value>& task, const RowsToSlice& rows, Coding<Value> coding, auto& stored) {
    constexpr bool marks_padding = widest_kind<std::remove_cvref_t<decltype(stored)>>.marks_padding;
    Workspace& workspace = task.workspace;
    MeasuredSlices slices = measured(task, rows, stored.slice_height, Index{padding_column} - (marks_padding ? 1 : 0));
    const Offset slots = workspace.download_item(slices.offsets, slices.count());
    if constexpr (HasColumns<decltype(stored.values)>) {
        coding.column_bits = std::bit_width(static_cast<std::uint32_t>(workspace.download_item(slices.reach, 0)));
    }
    const auto items = static_cast<std::size_t>(slots * rows.area);
    DeviceMemory numbers = room_for<std::uint32_t>(task.device, items, "the nonzeros of slices");
    slicing::number_slots<<<slices.blocks_for_slots(), block_threads, 0, workspace.stream()>>>(
        slices.shapes, slices.offsets.data(), rows.entries, rows.nonzeros_of_blocks, static_cast<unsigned>(rows.area),
        numbers.as<std::uint32_t>());
    check_launch("number_slots");
    stored.values = gathered_values<Stored>(task, std::move(numbers), items, std::move(coding), "values of slices");
    fill_columns(task, slices, static_cast<std::size_t>(slots), marks_padding, stored);
    DeviceMemory slice_offsets = room_for<Offset>(task.device, slices.count() + 1, "slice offsets");
    check_cuda(cudaMemcpyAsync(slice_offsets.address(), slices.offsets.data(), slice_offsets.bytes(), cudaMemcpyDeviceToDevice,
                               workspace.stream()),
               "cudaMemcpyAsync");
    stored.slice_offsets = {std::move(slice_offsets), static_cast<Offset>(slices.count() + 1)};
}

}  // namespace workbench
