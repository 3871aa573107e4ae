// Sliced ELL, the storage that several layouts share: rows in slices of equal height, each slice padded to its longest row
// and stored column by column, so that the lanes of a warp read neighbouring slots.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/common/nonzero_runs.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

/// Slices that a thread of the host takes at a time: some hundred rows of the usual slice height.
inline constexpr int slice_chunk = 8;

/// Stored rows in slices. Slices start afresh at every group (a partition, say): the last slice of a group may have lanes
/// without a row. Slot of the k-th entry of lane l of slice s: slice_offsets[s] + k * slice_height + l. Padding has value 0 and
/// column 0 of the column's base.
template <ValueType Value, typename ColumnIndex>
struct Slices {
    Index slice_height = 32;
    std::vector<Index> group_slices{0};    // [groups + 1] first slice of each group
    std::vector<Offset> slice_offsets{0};  // [slices + 1] first slot of each slice; multiples of slice_height
    std::vector<ColumnIndex> columns;      // [slots]
    std::vector<Value> values;             // [slots]

    // Where the slots come from. No kernel reads these and they are no part of the footprint: they let every slot be named.
    std::vector<Offset> lane_runs{0};  // [slices * slice_height + 1] first run of each lane
    std::vector<NonzeroRun> runs;      // a lane's nonzeros, in the order of its slots

    [[nodiscard]] Index group_count() const { return static_cast<Index>(group_slices.size()) - 1; }
    [[nodiscard]] Index slice_count() const { return static_cast<Index>(slice_offsets.size()) - 1; }
    [[nodiscard]] Index width(Index slice) const {
        return static_cast<Index>((slice_offsets[slice + 1] - slice_offsets[slice]) / slice_height);
    }
};

/// What goes into slices. The places are the rows to store, group by group; a place without a stored row is a row of padding.
struct SlicePlan {
    Index slice_height = 32;
    std::vector<Index> group_places{0};   // [groups + 1] first place of each group
    std::vector<Index> column_bounds{0};  // [groups + 1] the columns of group g lie in [bounds[g], bounds[g + 1]) and are
                                          // stored relative to bounds[g]
    std::vector<Index> stored_rows = {};  // [places] which stored row of the share, or -1; empty: place i holds stored row i
};

/// Builds slices from a share, in two passes over its entries, on all cores. Throws std::logic_error where an entry lies
/// outside the columns of its group, and Unsuitable where lanes or padding would not fit into memory (with the bytes).
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] Slices<Value, ColumnIndex> build_slices(const CsrMatrix& matrix, const ShareView& share, const SlicePlan& plan);

/// What the owner of slices knows about them and they do not.
struct SliceFrame {
    int value_array = 0;  // numbers in Layout::arrays()
    int column_array = 0;
    std::int64_t first_warp = 0;  // lanes are dealt to warps of 32 threads in order, from this one on
    Index group_alignment = 1;    // the lanes of a group begin at a multiple of this
    // A power of two, at most 32, of threads share a lane: thread t takes its entries t, t + threads_per_row, ... A warp has
    // the first threads of its lanes first, then the second ones, and so on: in slices of as many lanes as a warp has, it
    // reads neighbouring slots.
    Index threads_per_row = 1;
    std::span<const Index> column_bounds = {};  // as in SlicePlan
    // Row of the matrix at a place of a group, counted from the group's first place; -1: none.
    std::function<Index(Index group, Offset place)> row = {};
};

/// Walks every slot in the order of memory, for Layout::for_each_slot. Throws std::logic_error where offsets or columns point
/// outside the arrays, so that slices which were tampered with are safe to walk.
template <ValueType Value, typename ColumnIndex>
void for_each_slot(const Slices<Value, ColumnIndex>& slices, const SliceFrame& frame,
                   const std::function<void(const Slot&)>& visit);

/// The warps that the lanes of slices fill, a thread a lane.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] std::int64_t warp_count(const Slices<Value, ColumnIndex>& slices) {
    return (static_cast<std::int64_t>(slices.slice_count()) * slices.slice_height + 31) / 32;
}

}  // namespace workbench
