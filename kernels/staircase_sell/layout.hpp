// Staircase SELL: sliced ELL over rows of ascending length, in groups whose slices all have one width. A handful of numbers for
// each group then tells where everything lies: no slice has a pointer in the memory of the device.
// Source: Wikberg, "Unstructured Mesh FVM with GPU" (MPhil dissertation, University of Cambridge, 2025), section 4.3.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The slot of entry k of row group_rows[g] + j: group_slots[g] + (j / slice_height * group_widths[g] + k) * slice_height
/// + j % slice_height (Algorithm 4, line 14). Padding has value 0 and column -1: no kernel reads x for it. The last slice of a
/// group may have lanes without a row; after the stage length_groups only the last group's has.
///
/// group_rows, group_slots and group_widths are the source's row_ptr, step_ptr and step_lengths; step_blocks is slice_count.
/// They stay on the host and go to the kernel as its arguments. A group is as wide as its longest row, where Algorithm 3 takes
/// the length at which it closed; these differ only where all rows of that length were passed on.
template <typename Value, template <typename> typename Array>
struct StaircaseSell {
    template <template <typename> typename Other>
    using In = StaircaseSell<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Index slice_height = 512;
    Array<Index> group_rows;      // [groups + 1] first row of each group; no group is empty
    Array<Offset> group_slots;    // [groups + 1] first slot of each group
    Array<Index> group_widths;    // [groups] slots of each of its rows
    Array<Index> column_indices;  // [slots]
    Array<Value> values;          // [slots]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "slice_height", of.slice_height...);
        visit(ArrayRole::structure, "group_rows [groups + 1]", of.group_rows...);
        visit(ArrayRole::structure, "group_slots [groups + 1]", of.group_slots...);
        visit(ArrayRole::structure, "group_widths [groups]", of.group_widths...);
        visit(ArrayRole::column, "columns [slots]", of.column_indices...);
        visit(ArrayRole::value, "values [slots]", of.values...);
    }

    [[nodiscard]] Index group_count() const { return static_cast<Index>(group_widths.size()); }
    /// Slices of a group.
    [[nodiscard]] Offset slice_count(Index group) const {
        return (Offset{group_rows[group + 1]} - group_rows[group] + slice_height - 1) / slice_height;
    }
    /// The first slot of a slice of a group.
    [[nodiscard]] Offset slice_slot(Index group, Offset slice) const {
        return group_slots[group] + slice * group_widths[group] * slice_height;
    }
};

/// All that a kernel knows of a group; passed by value.
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

/// A group of `stored`, with its slots where the two arrays lie.
template <typename Value>
[[nodiscard]] StaircaseGroup<Value> group_of(const StaircaseSell<Value, HostArray>& stored, Index group, const auto& columns,
                                             const auto& values) {
    const Offset first = stored.group_slots[group];
    const Offset slots = stored.group_slots[group + 1] - first;
    return {{columns.data() + first, slots},
            {values.data() + first, slots},
            stored.column_count,
            stored.group_rows[group],
            static_cast<unsigned>(stored.group_rows[group + 1] - stored.group_rows[group]),
            static_cast<unsigned>(stored.slice_height),
            stored.group_widths[group]};
}

/// A thread a row of a group, in all its slices.
struct StaircaseRows : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::slot_read;

    static constexpr Offset threads(const auto& group) {
        return (Offset{group.rows} + group.height - 1) / group.height * group.height;
    }
    static constexpr Run<int> run(const auto& group, Offset thread) {
        const auto place = static_cast<unsigned>(thread);
        return {place < group.rows ? static_cast<Index>(group.first_row + place) : -1,
                Offset{place / group.height} * group.width * group.height + place % group.height, group.width,
                static_cast<int>(group.height)};
    }
};

template <ValueType Value>
struct StaircaseSellLayout final : StoredLayout<Value, StaircaseSell<Value, HostArray>> {
    // Where the slots come from. No kernel reads it and it is no part of the footprint.
    HostArray<Offset> row_offsets{0};  // [row_count + 1] nonzeros before each row
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry staircase_sell_entry();

[[nodiscard]] std::vector<KernelEntry> staircase_sell_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> staircase_sell_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> staircase_sell_cusparse_kernels();

}  // namespace workbench
