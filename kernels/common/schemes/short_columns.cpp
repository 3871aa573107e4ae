#include "kernels/common/schemes/short_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "core/matrix/host_array.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// The first column of a slice's nonzeros, and the distance to the last.
struct SliceReach {
    Index first = 0;
    Index distance = 0;
};

/// Calls visit(slot) for the slots of a slice that hold a nonzero, or with padding for all of the rows with nonzeros.
void for_each_slot_of_rows(const SliceShape& shape, std::int64_t slice, bool with_padding, const auto& visit) {
    const Offset begin = shape.slice_offsets[slice];
    const Offset width = (shape.slice_offsets[slice + 1] - begin) / shape.slice_height;
    for (Index lane = 0; lane < shape.slice_height; ++lane) {
        const Offset length = shape.length_of_lane(slice * shape.slice_height + lane);
        const Offset end = with_padding && length > 0 ? width : length;
        for (Offset k = 0; k < end; ++k) visit(begin + k * shape.slice_height + lane);
    }
}

std::vector<SliceReach> reaches_of_slices(const HostArray<Index>& columns, const SliceShape& shape) {
    std::vector<SliceReach> reaches(shape.slice_offsets.size() - 1);
    for_each_in_parallel(std::ssize(reaches), slice_chunk, [&](std::int64_t slice) {
        Index first = std::numeric_limits<Index>::max();
        Index last = 0;
        for_each_slot_of_rows(shape, slice, false, [&](Offset slot) {
            first = std::min(first, columns[slot]);
            last = std::max(last, columns[slot]);
        });
        if (first <= last) reaches[slice] = {first, last - first};
    });
    return reaches;
}

}  // namespace

ShortColumns shorten_columns(const HostArray<Index>& columns, const SliceShape& shape, bool marks_padding) {
    const HostArray<Offset>& slice_offsets = shape.slice_offsets;
    const std::vector<SliceReach> reaches = reaches_of_slices(columns, shape);
    const Index farthest = marks_padding ? padding_column - 1 : padding_column;
    ShortColumns narrow;
    HostArray<Index>& first_columns = narrow.of_slices.first_columns;
    HostArray<Offset>& wide_offsets = narrow.of_slices.wide_offsets;
    HostArray<std::uint16_t>& high_columns = narrow.of_slices.high_columns;
    first_columns.resize(reaches.size());
    Offset high = 0;
    for (std::size_t slice = 0; slice < reaches.size(); ++slice) {
        first_columns[slice] = reaches[slice].first;
        if (reaches[slice].distance <= farthest) continue;
        wide_offsets.push_back(high);
        first_columns[slice] = -static_cast<Index>(wide_offsets.size());
        high += slice_offsets[slice + 1] - slice_offsets[slice];
    }
    const std::uint16_t padding = marks_padding ? padding_column : 0;
    make_filled(narrow.column_indices, columns.size(), padding);
    make_filled(high_columns, high, padding);
    for_each_in_parallel(std::ssize(reaches), slice_chunk, [&](std::int64_t slice) {
        const Index first = first_columns[slice];
        for_each_slot_of_rows(shape, slice, !marks_padding, [&](Offset slot) {
            const auto column = static_cast<std::uint32_t>(columns[slot] - std::max(first, 0));
            narrow.column_indices[slot] = static_cast<std::uint16_t>(column);
            if (first >= 0) return;
            high_columns[wide_offsets[-1 - first] + slot - slice_offsets[slice]] = static_cast<std::uint16_t>(column >> 16);
        });
    });
    return narrow;
}

Offset wide_slices(const HostArray<Index>& columns, const SliceShape& shape) {
    const std::vector<SliceReach> reaches = reaches_of_slices(columns, shape);
    return std::count_if(reaches.begin(), reaches.end(),
                         [](const SliceReach& reach) { return reach.distance >= padding_column; });
}

CountedColumns count_columns(const HostArray<Index>& columns, const SliceShape& shape) {
    const std::vector<SliceReach> reaches = reaches_of_slices(columns, shape);
    CountedColumns counted;
    Index farthest = 0;
    for (const SliceReach& reach : reaches) {
        counted.first_columns.push_back(reach.first);
        farthest = std::max(farthest, reach.distance);
    }
    counted.bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(farthest)));
    make_zeros(counted.columns, columns.size());
    for_each_in_parallel(std::ssize(reaches), slice_chunk, [&](std::int64_t slice) {
        for_each_slot_of_rows(shape, slice, true,
                              [&](Offset slot) { counted.columns[slot] = columns[slot] - reaches[slice].first; });
    });
    return counted;
}

void require_sound_columns(std::span<const Index> first_columns, std::span<const Offset> wide_offsets, std::size_t high_columns,
                           std::span<const Offset> slice_offsets) {
    Offset high = 0;
    Index wide = 0;
    bool sound = first_columns.size() + 1 == slice_offsets.size();
    for (std::size_t slice = 0; sound && slice < first_columns.size(); ++slice) {
        if (first_columns[slice] >= 0) continue;
        sound =
            first_columns[slice] == -1 - wide && wide < static_cast<Index>(wide_offsets.size()) && wide_offsets[wide] == high;
        ++wide;
        high += slice_offsets[slice + 1] - slice_offsets[slice];
    }
    sound = sound && wide == static_cast<Index>(wide_offsets.size()) && high == static_cast<Offset>(high_columns);
    if (!sound) throw std::logic_error("slices: first columns and upper halves of columns do not belong to the slices");
}

std::vector<std::pair<std::string, std::string>> notes_on_columns(const SliceColumns<std::uint16_t, HostArray>& columns) {
    return {
        {"slices with columns of 32 bits", fmt::format("{} of {}", columns.wide_offsets.size(), columns.first_columns.size())}};
}

}  // namespace workbench
