// Staircase SELL: sliced ELL over rows of ascending length, in groups whose slices all have one width. A handful of numbers for
// each group then tells where everything lies: no slice has a pointer in the memory of the device.
// Source: Wikberg, "Unstructured Mesh FVM with GPU" (MPhil dissertation, University of Cambridge, 2025), section 4.3.
#pragma once

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The slot of entry k of row group_rows[g] + j: group_slots[g] + (j / slice_height * group_widths[g] + k) * slice_height
/// + j % slice_height (Algorithm 4, line 14). Padding has value 0 and column -1: no kernel reads x for it. The last slice of a
/// group may have lanes without a row; after the stage length_groups only the last group's has.
///
/// group_rows, group_slots and group_widths are the source's row_ptr, step_ptr and step_lengths; step_blocks is slice_count.
/// They stay on the host and go to the kernel as its arguments. A group is as wide as its longest row, where Algorithm 3 takes
/// the length at which it closed; these differ only where all rows of that length were passed on.
template <ValueType Value>
struct StaircaseSellLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Index slice_height = 512;
    std::vector<Index> group_rows{0};    // [groups + 1] first row of each group; no group is empty
    std::vector<Offset> group_slots{0};  // [groups + 1] first slot of each group
    std::vector<Index> group_widths;     // [groups] slots of each of its rows
    std::vector<Index> column_indices;   // [slots]
    std::vector<Value> values;           // [slots]

    // Where the slots come from. No kernel reads it and it is no part of the footprint: it lets every slot be named.
    std::vector<Offset> row_offsets{0};  // [row_count + 1] nonzeros before each row

    [[nodiscard]] Index group_count() const { return static_cast<Index>(group_widths.size()); }
    /// Slices of a group.
    [[nodiscard]] Offset slice_count(Index group) const {
        return (Offset{group_rows[group + 1]} - group_rows[group] + slice_height - 1) / slice_height;
    }
    /// The first slot of a slice of a group.
    [[nodiscard]] Offset slice_slot(Index group, Offset slice) const {
        return group_slots[group] + slice * group_widths[group] * slice_height;
    }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry staircase_sell_entry();

[[nodiscard]] std::vector<KernelEntry> staircase_sell_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> staircase_sell_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> staircase_sell_cusparse_kernels();

}  // namespace workbench
