#include "kernels/common/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "kernels/common/host_loops.hpp"
#include "kernels/common/offsets.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

/// The places that a slice holds: [begin, begin + count).
struct SlicePlaces {
    Index group = 0;
    Index begin = 0;
    Index count = 0;
};

/// The places of every slice, in order; also fills group_slices.
std::vector<SlicePlaces> cut_into_slices(const SlicePlan& plan, std::vector<Index>& group_slices) {
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
        group_slices.push_back(static_cast<Index>(slices.size()));
    }
    return slices;
}

Index stored_row(const SlicePlan& plan, Index place) { return plan.stored_rows.empty() ? place : plan.stored_rows[place]; }

/// The first pass: the width of every slice and the number of runs of every lane, as offsets.
template <ValueType Value, typename ColumnIndex>
void measure(Slices<Value, ColumnIndex>& slices, const std::vector<SlicePlaces>& places, const ShareView& share,
             const SlicePlan& plan) {
    const auto slice_count = static_cast<std::int64_t>(places.size());
    slices.slice_offsets.assign(slice_count + 1, 0);
    slices.lane_runs.assign(slice_count * plan.slice_height + 1, 0);
    for_each_in_parallel(slice_count, slice_chunk, [&](std::int64_t slice) {
        Offset width = 0;
        for (Index lane = 0; lane < places[slice].count; ++lane) {
            const Index stored = stored_row(plan, places[slice].begin + lane);
            if (stored < 0) continue;
            width = std::max(width, share.length(stored));
            Offset& runs = slices.lane_runs[slice * plan.slice_height + lane + 1];
            for_each_run(share, stored, [&](const NonzeroRun&) { ++runs; });
        }
        slices.slice_offsets[slice + 1] = width * plan.slice_height;
    });
    std::partial_sum(slices.slice_offsets.begin(), slices.slice_offsets.end(), slices.slice_offsets.begin());
    std::partial_sum(slices.lane_runs.begin(), slices.lane_runs.end(), slices.lane_runs.begin());
}

/// Every lane has an offset of its own, a lane without a row too.
void require_memory_for_lanes(std::size_t slices, Index slice_height) {
    const double lanes = static_cast<double>(slices) * slice_height;
    const double wanted = lanes * sizeof(Offset);
    const std::size_t free = free_host_memory();
    if (wanted <= static_cast<double>(free)) return;
    throw Unsuitable(
        fmt::format("{} slices of height {} have {:.0f} lanes: {:.0f} bytes, but {} are free; smaller slices (slice_height) "
                    "have fewer",
                    slices, slice_height, lanes, wanted, free));
}

/// A width and a slice height below 2^31 each and fewer than 2^32 lanes keep the number of slots below 2^63.
void require_memory(Offset slots, Offset entries, Index slice_height, std::size_t bytes_per_slot) {
    const double wanted = static_cast<double>(slots) * static_cast<double>(bytes_per_slot);
    const std::size_t free = free_host_memory();
    if (wanted <= static_cast<double>(free)) return;
    throw Unsuitable(
        fmt::format("slices of height {} need {} slots for {} nonzeros: {:.0f} bytes, but {} are free; "
                    "rows sorted by length (row_sort) or smaller slices (slice_height) need less padding",
                    slice_height, slots, entries, wanted, free));
}

/// The second pass: values, columns and runs. Returns how many entries lie outside the columns of their group.
template <ValueType Value, typename ColumnIndex>
std::int64_t fill(Slices<Value, ColumnIndex>& slices, const std::vector<SlicePlaces>& places, const CsrMatrix& matrix,
                  const ShareView& share, const SlicePlan& plan) {
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(static_cast<std::int64_t>(places.size()), slice_chunk, [&](std::int64_t slice) {
        const Index first_column = plan.column_bounds[places[slice].group];
        const Index end_column = plan.column_bounds[places[slice].group + 1];
        std::int64_t strays_of_slice = 0;
        for (Index lane = 0; lane < places[slice].count; ++lane) {
            const Index stored = stored_row(plan, places[slice].begin + lane);
            if (stored < 0) continue;
            Offset slot = slices.slice_offsets[slice] + lane;
            Offset run_number = slices.lane_runs[slice * plan.slice_height + lane];
            for_each_run(share, stored, [&](const NonzeroRun& run) {
                slices.runs[run_number++] = run;
                for (Offset nonzero = run.first; nonzero < run.first + run.count; ++nonzero) {
                    const Index column = matrix.column_indices[nonzero];
                    strays_of_slice += column < first_column || column >= end_column ? 1 : 0;
                    slices.columns[slot] = static_cast<ColumnIndex>(column - first_column);
                    slices.values[slot] = static_cast<Value>(matrix.values[nonzero]);
                    slot += plan.slice_height;
                }
            });
        }
        if (strays_of_slice > 0) strays += strays_of_slice;
    });
    return strays;
}

/// Offsets that tile the arrays, slice by slice and group by group.
template <ValueType Value, typename ColumnIndex>
void require_sound_offsets(const Slices<Value, ColumnIndex>& slices) {
    const auto whole = [&](Offset offset) { return offset % slices.slice_height == 0; };
    const bool sound = tiles(slices.slice_offsets, slices.values.size()) &&
                       tiles(slices.group_slices, slices.slice_offsets.size() - 1) &&
                       slices.columns.size() == slices.values.size() &&
                       std::all_of(slices.slice_offsets.begin(), slices.slice_offsets.end(), whole);
    if (!sound) throw std::logic_error("slices: the offsets do not tile the arrays");
}

/// Walks the slots of one slice, whose lanes are dealt from `first_thread` on.
template <ValueType Value, typename ColumnIndex>
void walk_slice(const Slices<Value, ColumnIndex>& slices, const SliceFrame& frame, Index group, Index slice,
                Offset first_thread, const std::function<void(const Slot&)>& visit) {
    const Index height = slices.slice_height;
    const Index threads = frame.threads_per_row;
    const Index lanes_of_warp = 32 / threads;
    const Offset first_lane = static_cast<Offset>(slice) * height;
    const Offset first_place = static_cast<Offset>(slice - slices.group_slices[group]) * height;
    const Index first_column = frame.column_bounds[group];
    const Index column_count = frame.column_bounds[group + 1] - first_column;
    std::vector<RunCursor> nonzeros;
    std::vector<Index> rows;
    for (Index lane = 0; lane < height; ++lane) {
        nonzeros.emplace_back(slices.runs.data() + slices.lane_runs[first_lane + lane],
                              slices.runs.data() + slices.lane_runs[first_lane + lane + 1]);
        rows.push_back(frame.row(group, first_place + lane));
    }
    Slot slot{.array = frame.value_array, .column_array = frame.column_array, .index = slices.slice_offsets[slice]};
    for (Index k = 0; k < slices.width(slice); ++k) {
        slot.step = k / threads;
        for (Index lane = 0; lane < height; ++lane, ++slot.index) {
            const auto local_column = static_cast<Index>(slices.columns[slot.index]);
            if (local_column < 0 || local_column >= column_count) {
                throw std::logic_error(fmt::format("slices: slot {} reads a column outside of its group", slot.index));
            }
            slot.nonzero = nonzeros[lane].next();
            slot.column = first_column + local_column;
            slot.column_index = slot.index;
            slot.row = rows[lane];
            slot.warp = frame.first_warp + (first_thread + lane) / lanes_of_warp;
            slot.lane = static_cast<int>(k % threads * lanes_of_warp + (first_thread + lane) % lanes_of_warp);
            visit(slot);
        }
    }
}

}  // namespace

template <ValueType Value, typename ColumnIndex>
Slices<Value, ColumnIndex> build_slices(const CsrMatrix& matrix, const ShareView& share, const SlicePlan& plan) {
    Slices<Value, ColumnIndex> slices;
    slices.slice_height = plan.slice_height;
    const std::vector<SlicePlaces> places = cut_into_slices(plan, slices.group_slices);
    require_memory_for_lanes(places.size(), plan.slice_height);
    measure(slices, places, share, plan);
    const Offset slots = slices.slice_offsets.back();
    require_memory(slots, share.entry_count(), plan.slice_height, sizeof(Value) + sizeof(ColumnIndex));
    slices.columns.assign(slots, 0);
    slices.values.assign(slots, 0);
    slices.runs.resize(slices.lane_runs.back());
    if (const std::int64_t strays = fill(slices, places, matrix, share, plan); strays > 0) {
        throw std::logic_error(fmt::format("slices: {} entries lie outside the columns of their group", strays));
    }
    return slices;
}

template <ValueType Value, typename ColumnIndex>
void for_each_slot(const Slices<Value, ColumnIndex>& slices, const SliceFrame& frame,
                   const std::function<void(const Slot&)>& visit) {
    require_sound_offsets(slices);
    const Offset alignment = frame.group_alignment;
    Offset thread = 0;
    for (Index group = 0; group < slices.group_count(); ++group) {
        for (Index slice = slices.group_slices[group]; slice < slices.group_slices[group + 1]; ++slice) {
            walk_slice(slices, frame, group, slice, thread, visit);
            thread += slices.slice_height;
        }
        thread = (thread + alignment - 1) / alignment * alignment;
    }
}

// The value types and column types that layouts use.
template Slices<float, Index> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<double, Index> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<float, std::uint16_t> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);
template Slices<double, std::uint16_t> build_slices(const CsrMatrix&, const ShareView&, const SlicePlan&);

using VisitSlot = std::function<void(const Slot&)>;
template void for_each_slot(const Slices<float, Index>&, const SliceFrame&, const VisitSlot&);
template void for_each_slot(const Slices<double, Index>&, const SliceFrame&, const VisitSlot&);
template void for_each_slot(const Slices<float, std::uint16_t>&, const SliceFrame&, const VisitSlot&);
template void for_each_slot(const Slices<double, std::uint16_t>&, const SliceFrame&, const VisitSlot&);

}  // namespace workbench
