#include "kernels/common/schemes/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/host_array.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// The places of a slice, [begin, begin + count), and its group, whose first column its columns are relative to.
struct SlicePlaces {
    Index group = 0;
    Index begin = 0;
    Index count = 0;
};

/// The places of each slice.
std::vector<SlicePlaces> cut_into_slices(const SlicePlan& plan) {
    std::vector<SlicePlaces> slices;
    const Index groups = static_cast<Index>(plan.group_places.size()) - 1;
    for (Index group = 0; group < groups; ++group) {
        const Index end = plan.group_places[group + 1];
        Index begin = plan.group_places[group];
        while (begin < end) {
            const Index count = std::min(plan.slice_height, end - begin);
            slices.push_back({group, begin, count});
            begin += count;
        }
    }
    return slices;
}

Index stored_row(const SlicePlan& plan, Index place) { return plan.stored_rows.empty() ? place : plan.stored_rows[place]; }

/// The first pass: the width of every slice, as offsets.
template <ValueType Value, typename ColumnIndex>
void measure(Slices<Value, ColumnIndex, HostArray>& slices, const std::vector<SlicePlaces>& places, const ShareView& share,
             const SlicePlan& plan) {
    const auto slice_count = static_cast<std::int64_t>(places.size());
    slices.slice_offsets.assign(slice_count + 1, 0);
    for_each_in_parallel(slice_count, slice_chunk, [&](std::int64_t slice) {
        Offset width = 0;
        for (Index lane = 0; lane < places[slice].count; ++lane) {
            const Index stored = stored_row(plan, places[slice].begin + lane);
            if (stored >= 0) width = std::max(width, share.length(stored));
        }
        slices.slice_offsets[slice + 1] = width * plan.slice_height;
    });
    std::partial_sum(slices.slice_offsets.begin(), slices.slice_offsets.end(), slices.slice_offsets.begin());
}

/// Every lane has an offset, including lanes without a row.
void require_memory_for_lanes(std::size_t slices, Index slice_height) {
    const double lanes = static_cast<double>(slices) * slice_height;
    const double wanted = lanes * sizeof(Offset);
    const std::size_t free = free_host_memory();
    if (wanted <= static_cast<double>(free)) return;
    throw Unsuitable(
        fmt::format("{} of height {} would have {:.0f} lanes: {:.0f} bytes, but {} are free; smaller slices (slice_height) "
                    "have fewer",
                    counted(slices, "slice"), slice_height, lanes, wanted, free));
}

/// The second pass: values and columns. Padding repeats the last column of its row, so that a NaN in x reaches no row that
/// lacks its column. Returns how many entries lie outside the columns of their group.
template <ValueType Value, typename ColumnIndex>
std::int64_t fill(Slices<Value, ColumnIndex, HostArray>& slices, const std::vector<SlicePlaces>& places,
                  const CsrMatrix& matrix, const ShareView& share, const SlicePlan& plan) {
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(static_cast<std::int64_t>(places.size()), slice_chunk, [&](std::int64_t slice) {
        const Index first_column = plan.column_bounds[places[slice].group];
        const Index end_column = plan.column_bounds[places[slice].group + 1];
        std::int64_t strays_of_slice = 0;
        for (Index lane = 0; lane < places[slice].count; ++lane) {
            const Index stored = stored_row(plan, places[slice].begin + lane);
            if (stored < 0) continue;
            Offset slot = slices.slice_offsets[slice] + lane;
            for (Offset k = 0; k < share.length(stored); ++k, slot += plan.slice_height) {
                const Offset nonzero = share.entry(stored, k);
                const Index column = matrix.column_indices[nonzero];
                strays_of_slice += column < first_column || column >= end_column ? 1 : 0;
                slices.column_indices[slot] = static_cast<ColumnIndex>(column - first_column);
                slices.values[slot] = static_cast<Value>(matrix.values[nonzero]);
            }
            if (share.length(stored) == 0) continue;
            const auto last = slices.column_indices[slot - plan.slice_height];
            for (; slot < slices.slice_offsets[slice + 1]; slot += plan.slice_height) slices.column_indices[slot] = last;
        }
        if (strays_of_slice > 0) strays += strays_of_slice;
    });
    return strays;
}

}  // namespace

HostArray<Index> SlicePlan::group_slices() const {
    HostArray<Index> first{0};
    for (std::size_t group = 0; group + 1 < group_places.size(); ++group) {
        const Index places = group_places[group + 1] - group_places[group];
        first.push_back(first.back() + static_cast<Index>((Offset{places} + slice_height - 1) / slice_height));
    }
    return first;
}

HostArray<Index> SlicePlan::lane_rows() const {
    const std::vector<SlicePlaces> slices = cut_into_slices(*this);
    HostArray<Index> rows;
    make_filled(rows, slices.size() * slice_height, Index{-1});
    for_each_in_parallel(std::ssize(slices), slice_chunk, [&](std::int64_t slice) {
        const SlicePlaces& places = slices[slice];
        for (Index lane = 0; lane < places.count; ++lane) {
            rows[slice * slice_height + lane] = stored_row(*this, places.begin + lane);
        }
    });
    return rows;
}

template <ValueType Value, typename ColumnIndex>
Slices<Value, ColumnIndex, HostArray> build_slices(const CsrMatrix& matrix, const ShareView& share, const SlicePlan& plan) {
    Slices<Value, ColumnIndex, HostArray> slices;
    slices.slice_height = plan.slice_height;
    const std::vector<SlicePlaces> places = cut_into_slices(plan);
    require_memory_for_lanes(places.size(), plan.slice_height);
    measure(slices, places, share, plan);
    // A width and a slice height below 2^31 and fewer than 2^32 lanes keep the number of slots below 2^63.
    const Offset slots = slices.slice_offsets.back();
    require_bounded_slots(fmt::format("slices of height {}", plan.slice_height), static_cast<double>(slots),
                          share.entry_count(), sizeof(Value) + sizeof(ColumnIndex),
                          {.advice = "rows sorted by length (row_sort) or smaller slices (slice_height) need less padding"});
    make_zeros(slices.column_indices, slots);
    make_zeros(slices.values, slots);
    if (const std::int64_t strays = fill(slices, places, matrix, share, plan); strays > 0) {
        throw std::logic_error(fmt::format("slices: {} entries lie outside the columns of their group", strays));
    }
    return slices;
}

void require_sound_offsets(std::span<const Offset> slice_offsets, Index slice_height, std::size_t slots, std::size_t columns) {
    const auto whole = [&](Offset offset) { return offset % slice_height == 0; };
    const bool sound =
        tiles(slice_offsets, slots) && columns == slots && std::all_of(slice_offsets.begin(), slice_offsets.end(), whole);
    if (!sound) throw std::logic_error("slices: the offsets do not tile the arrays");
}

template Slices<float, Index, HostArray> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<float, std::uint16_t, HostArray> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<double, Index, HostArray> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<double, std::uint16_t, HostArray> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);

}  // namespace workbench
