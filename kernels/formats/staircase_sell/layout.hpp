// Staircase SELL: sliced ELL over rows of ascending length, in groups whose slices all have one width. A few numbers per group
// locate every slot, so that slices need no pointers in device memory.
// Source: Wikberg, "Unstructured Mesh FVM with GPU" (MPhil dissertation, University of Cambridge, 2025), section 4.3.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The slot of entry k of row group_rows[g] + j: group_slots[g] + (j / slice_height * group_widths[g] + k) * slice_height
/// + j % slice_height (Algorithm 4, line 14). Padding has value 0 and column -1. The last slice of a
/// group may have lanes without a row; after the stage length_groups only the last group's has.
///
/// group_rows, group_slots and group_widths are the source's row_ptr, step_ptr and step_lengths; step_blocks is slice_count.
/// They stay on the host and are arguments of the kernel. A group is as wide as its longest row; Algorithm 3 takes the length
/// at which the group was closed, which differs only if all rows of that length were passed on.
template <typename Value, template <typename> typename Array>
struct StaircaseSell : MatrixSize {
    Index slice_height = 512;
    Array<Index> group_rows;    // first row of each group; no group is empty
    Array<Offset> group_slots;  // first slot of each group
    Array<Index> group_widths;  // slots of each of its rows
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&StaircaseSell::slice_height>(),
                          structure_array<&StaircaseSell::group_rows>("groups + 1"),
                          structure_array<&StaircaseSell::group_slots>("groups + 1"),
                          structure_array<&StaircaseSell::group_widths>("groups"),
                          column_array<&StaircaseSell::column_indices>("slots"), value_array<&StaircaseSell::values>("slots"));
    }

    [[nodiscard]] Index group_count() const { return static_cast<Index>(group_widths.size()); }
    /// The number of slices of a group.
    [[nodiscard]] Offset slice_count(Index group) const {
        return (Offset{group_rows[group + 1]} - group_rows[group] + slice_height - 1) / slice_height;
    }
    /// The first slot of a slice of a group.
    [[nodiscard]] Offset slice_slot(Index group, Offset slice) const {
        return group_slots[group] + slice * group_widths[group] * slice_height;
    }
};

/// A group as an argument of a kernel.
template <typename Value>
struct StaircaseGroup {
    ArrayView<Index> column_indices;  // the group's
    ArrayView<Value> values;
    Index column_count = 0;
    Index first_row = 0;
    unsigned rows = 0;
    unsigned height = 0;
    Index width = 0;
};

/// A group of `stored`, with its part of these arrays of columns and values.
template <typename Value>
[[nodiscard]] StaircaseGroup<Value> group_of(const StaircaseSell<Value, HostArray>& stored, Index group, const auto& columns,
                                             const auto& values) {
    const Offset first = stored.group_slots[group];
    const Offset slots = stored.group_slots[group + 1] - first;
    return {.column_indices = {columns.data() + first, slots},
            .values = {values.data() + first, slots},
            .column_count = stored.column_count,
            .first_row = stored.group_rows[group],
            .rows = static_cast<unsigned>(stored.group_rows[group + 1] - stored.group_rows[group]),
            .height = static_cast<unsigned>(stored.slice_height),
            .width = stored.group_widths[group]};
}

/// One thread per row of a group.
struct StaircaseRows final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read, .side_by_side = AdjacentRuns::descending}> {
    static constexpr Offset threads(const auto& group) {
        return (Offset{group.rows} + group.height - 1) / group.height * group.height;
    }
    static constexpr Offset threads_side_by_side(const auto& group) { return group.height; }
    static constexpr Run<int> run(const auto& group, Offset thread, const auto&) {
        const auto place = static_cast<unsigned>(thread);
        return {place < group.rows ? static_cast<Index>(group.first_row + place) : -1,
                Offset{place / group.height} * group.width * group.height + place % group.height, group.width,
                static_cast<int>(group.height)};
    }
};

template <ValueType Value>
struct StaircaseSellLayout final : StoredLayout<Value, StaircaseSell<Value, HostArray>> {
    static constexpr const char* name = "staircase_sell";
    // For the walk over the slots. No kernel reads it, and it does not count in the footprint.
    HostArray<Offset> row_offsets{0};  // [row_count + 1] nonzeros before each row
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
class StaircaseStreams;
template <ValueType Value>
class StaircaseGraph;

[[nodiscard]] LayoutEntry staircase_sell_entry();
[[nodiscard]] std::vector<KernelEntry> staircase_sell_cusparse_kernels();

}  // namespace workbench
