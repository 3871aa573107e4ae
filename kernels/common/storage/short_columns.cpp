#include "kernels/common/storage/short_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/common/storage/slices.hpp"
#include "kernels/device/host_loops.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

constexpr Index reach = 1 << 16;

/// The first column of a slice's nonzeros, and whether 16 bits reach from there to the last.
struct Reach {
    Index first = 0;
    bool wide = false;
};

Reach reach_of(const HostArray<Index>& columns, Offset first_slot, Index height, Offset first_lane,
               const std::function<Offset(Offset)>& length_of_lane) {
    Index first = std::numeric_limits<Index>::max();
    Index last = 0;
    for (Index lane = 0; lane < height; ++lane) {
        const Offset length = length_of_lane(first_lane + lane);
        for (Offset k = 0; k < length; ++k) {
            const Index column = columns[first_slot + k * height + lane];
            first = std::min(first, column);
            last = std::max(last, column);
        }
    }
    if (first > last) return {};
    return {first, last - first >= reach};
}

}  // namespace

ShortColumns shorten_columns(const HostArray<Index>& columns, const HostArray<Offset>& slice_offsets, Index slice_height,
                             const std::function<Offset(Offset)>& length_of_lane) {
    const auto slices = static_cast<std::int64_t>(slice_offsets.size()) - 1;
    ShortColumns narrow;
    auto& [first_columns, wide_offsets, high_columns] = narrow.of_slices;
    std::vector<Reach> reaches(slices);
    for_each_in_parallel(slices, slice_chunk, [&](std::int64_t slice) {
        reaches[slice] = reach_of(columns, slice_offsets[slice], slice_height, slice * slice_height, length_of_lane);
    });
    first_columns.resize(slices);
    Offset high = 0;
    for (std::int64_t slice = 0; slice < slices; ++slice) {
        first_columns[slice] = reaches[slice].first;
        if (!reaches[slice].wide) continue;
        wide_offsets.push_back(high);
        first_columns[slice] = -static_cast<Index>(wide_offsets.size());
        high += slice_offsets[slice + 1] - slice_offsets[slice];
    }
    make_zeros(narrow.column_indices, columns.size());
    make_zeros(high_columns, high);
    for_each_in_parallel(slices, slice_chunk, [&](std::int64_t slice) {
        const Index first = first_columns[slice];
        const Offset begin = slice_offsets[slice];
        for (Index lane = 0; lane < slice_height; ++lane) {
            const Offset length = length_of_lane(slice * slice_height + lane);
            for (Offset k = 0; k < length; ++k) {
                const Offset slot = begin + k * slice_height + lane;
                const auto column = static_cast<std::uint32_t>(columns[slot] - std::max(first, 0));
                narrow.column_indices[slot] = static_cast<std::uint16_t>(column);
                if (first < 0) high_columns[wide_offsets[-1 - first] + slot - begin] = static_cast<std::uint16_t>(column >> 16);
            }
        }
    });
    return narrow;
}

void require_sound_columns(const SliceColumns<std::uint16_t, HostArray>& columns, const HostArray<Offset>& slice_offsets) {
    Offset high = 0;
    Index wide = 0;
    bool sound = columns.first_columns.size() + 1 == slice_offsets.size();
    for (std::size_t slice = 0; sound && slice < columns.first_columns.size(); ++slice) {
        if (columns.first_columns[slice] >= 0) continue;
        sound = columns.first_columns[slice] == -1 - wide && wide < static_cast<Index>(columns.wide_offsets.size()) &&
                columns.wide_offsets[wide] == high;
        ++wide;
        high += slice_offsets[slice + 1] - slice_offsets[slice];
    }
    sound = sound && wide == static_cast<Index>(columns.wide_offsets.size()) &&
            high == static_cast<Offset>(columns.high_columns.size());
    if (!sound) throw std::logic_error("slices: first columns and upper halves of columns do not belong to the slices");
}

std::vector<std::pair<std::string, std::string>> notes_on_columns(const SliceColumns<std::uint16_t, HostArray>& columns) {
    return {
        {"slices with columns of 32 bits", fmt::format("{} of {}", columns.wide_offsets.size(), columns.first_columns.size())}};
}

}  // namespace workbench
