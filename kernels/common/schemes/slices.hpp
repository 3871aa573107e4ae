// Sliced ELL, a storage that several layouts share: rows in slices of equal height, each slice padded to its longest row and
// stored column by column, so that the lanes of a warp read neighbouring slots.
#pragma once

#include <vector>

#include "core/matrix/shares.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "kernels/common/storage/origin.hpp"

namespace workbench {

/// Slices that a thread of the host takes at a time: a few hundred rows.
inline constexpr int slice_chunk = 8;

/// Stored rows in slices. Every group of rows, such as a part of a partition, begins a new slice: the last slice of a group may
/// have lanes without a row. The k-th entry of lane l of slice s is slot slice_offsets[s] + k * slice_height + l. Padding has
/// value 0 and the last column of its row; in a row without entries column 0, relative to the group's first column. Value and
/// ColumnIndex may be marks of coded_values.hpp.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Slices {
    Index slice_height = 32;
    Array<Offset> slice_offsets;  // first slot of each slice; multiples of slice_height
    [[no_unique_address]] ColumnArray<ColumnIndex, Array> column_indices;
    ValueArray<Value, Array> values;

    static constexpr auto fields() {
        return field_list(number_field<&Slices::slice_height>(), structure_array<&Slices::slice_offsets>("slices + 1"),
                          coded_column_array<&Slices::column_indices>("slots"), coded_value_array<&Slices::values>("slots"));
    }

    [[nodiscard]] constexpr Index slice_count() const { return static_cast<Index>(slice_offsets.size()) - 1; }
    [[nodiscard]] constexpr Offset lane_count() const { return Offset{slice_count()} * slice_height; }
};

/// The slots of a lane of a slice that one of its `threads` reads: every threads-th, beginning with number `thread`. height:
/// that of the slices if it is known at compile time, otherwise 0.
template <int height, int threads = 1>
[[nodiscard]] constexpr auto run_in_slice(const auto& slices, Index row, Offset slice, int lane, int thread = 0,
                                          Index first_column = 0) {
    const Offset begin = slices.slice_offsets[slice];
    const Offset slots = slices.slice_offsets[slice + 1] - begin;
    if constexpr (height == 0) {
        const int stride = slices.slice_height;
        return Run<int>{.row = row,
                        .first = begin + Offset{thread} * stride + lane,
                        .count = (slots / stride - thread + threads - 1) / threads,
                        .stride = threads * stride,
                        .first_column = first_column};
    } else {
        return Run<Known<height * threads>>{.row = row,
                                            .first = begin + thread * height + lane,
                                            .count = (slots / height - thread + threads - 1) / threads,
                                            .first_column = first_column};
    }
}

/// The rows that go into slices: places, group by group. A place without a stored row is a row of padding.
struct SlicePlan {
    Index slice_height = 32;
    std::vector<Index> group_places{0};   // [groups + 1] first place of each group
    std::vector<Index> column_bounds{0};  // [groups + 1] the columns of group g lie in [bounds[g], bounds[g + 1]) and are
                                          // stored relative to bounds[g]
    HostArray<Index> stored_rows = {};    // [places] which stored row of the share, or -1; empty: place i holds stored row i

    /// The first slice of each group. [groups + 1]
    [[nodiscard]] HostArray<Index> group_slices() const;
    /// The stored row in each lane of all slices, or -1. [slices * slice_height]
    [[nodiscard]] HostArray<Index> lane_rows() const;
};

/// Builds slices from a share, in two passes over its entries, on all cores. Throws
/// std::logic_error if an entry is outside the columns of its group, and Unsuitable, with the bytes, if lanes or padding exceed
/// the free memory.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] Slices<Value, ColumnIndex, HostArray> build_slices(const CsrMatrix& matrix, const ShareView& share,
                                                                 const SlicePlan& plan);

/// Throws std::logic_error unless the offsets tile as many slots and columns, so that corrupted slices are safe to walk.
void require_sound_offsets(std::span<const Offset> slice_offsets, Index slice_height, std::size_t slots, std::size_t columns);
template <typename Value, typename ColumnIndex>
void require_sound_offsets(const Slices<Value, ColumnIndex, HostArray>& slices) {
    std::size_t columns = slices.values.size();
    if constexpr (!std::is_same_v<ColumnIndex, InWords>) columns = slices.column_indices.size();
    require_sound_offsets(slices.slice_offsets, slices.slice_height, slices.values.size(), columns);
}

}  // namespace workbench
