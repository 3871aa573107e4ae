// The kernels that divide a matrix into the shares inside and outside of its parts.
//
// Races. A thread writes the items of its own number. The threads that take a row together write different entries of it, or
// the first of them writes. The rows with entries outside are counted by an atomic.
#pragma once

#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/prepare/planned_on_gpu.cuh"
#include "kernels/primitives/search.hpp"

namespace workbench::dividing {

static_assert(ehyb_height == 32, "a warp takes the lanes of a slice");

/// Parts of rows and columns, and the slices of their rows.
struct PartsOnGpu {
    const Index* boundaries;    // [parts + 1]
    const Index* first_slices;  // [parts + 1]
    Index parts;
    Index slices;
};

/// A lane of a slice inside.
struct InsideLane {
    Index row;  // -1: none
    Index first_column;
    Index end_column;
};

inline __device__ InsideLane inside_lane(const PartsOnGpu& parts, std::size_t lane) {
    const auto slice = static_cast<Index>(lane / ehyb_height);
    const Index part = piece_at(parts.first_slices, parts.parts, slice);
    const Index first = parts.boundaries[part];
    const Index end = parts.boundaries[part + 1];
    const Index row = first + (slice - parts.first_slices[part]) * ehyb_height + static_cast<Index>(lane % ehyb_height);
    return {row < end ? row : -1, first, end};
}

/// The entries of a row that are inside its part. They follow each other, because columns ascend.
struct EntriesInside {
    Index first;
    Index end;
};

/// Finds the entries inside of each row, and their number at the place after that of its lane; the rows with entries outside,
/// how many there are, and a key for each row: those without entries outside come last.
static __global__ void divide_rows(PartsOnGpu parts, ReorderedOnGpu matrix, EntriesInside* __restrict__ inside,
                                   Offset* __restrict__ lengths, std::uint32_t* __restrict__ rows_outside, unsigned* row_count,
                                   std::uint64_t* __restrict__ keys, std::uint32_t* __restrict__ rows) {
    // Whole warps take part in the ballot, because there are 32 lanes a slice.
    on_gpu::for_each_item(static_cast<std::size_t>(parts.slices) * ehyb_height, [&](std::size_t lane) {
        const InsideLane own = inside_lane(parts, lane);
        Index length = 0;
        Index outside = 0;
        if (own.row >= 0) {
            const auto begin = static_cast<Index>(matrix.offsets[own.row]);
            const auto entries = static_cast<Index>(matrix.offsets[own.row + 1]) - begin;
            const Index* const columns = matrix.columns + begin;
            const Index before = count_below(columns, entries, own.first_column);
            length = count_below(columns, entries, own.end_column) - before;
            outside = entries - length;
            inside[own.row] = {begin + before, begin + before + length};
            keys[own.row] = outside == 0 ? 1 : 0;
            rows[own.row] = static_cast<std::uint32_t>(own.row);
        }
        lengths[lane + 1] = length;
        if (lane == 0) lengths[0] = 0;
        const unsigned outside_of_slice = __ballot_sync(~0U, outside > 0);
        if (lane % ehyb_height != 0) return;
        rows_outside[lane / ehyb_height] = outside_of_slice;
        if (outside_of_slice != 0) atomicAdd(row_count, static_cast<unsigned>(__popc(outside_of_slice)));
    });
}

/// The rows outside in their order, and the number of their entries outside at the place after theirs.
static __global__ void measure_outside(const std::uint32_t* __restrict__ sorted_rows, Index count, ReorderedOnGpu matrix,
                                       const EntriesInside* __restrict__ inside, Index* __restrict__ outside_rows,
                                       Offset* __restrict__ lengths) {
    on_gpu::for_each_item(static_cast<std::size_t>(count), [&](std::size_t stored) {
        const auto row = static_cast<Index>(sorted_rows[stored]);
        outside_rows[stored] = row;
        lengths[stored + 1] = matrix.offsets[row + 1] - matrix.offsets[row] - (inside[row].end - inside[row].first);
    });
}

static __global__ void key_by_part(PartsOnGpu parts, const std::uint32_t* __restrict__ rows, std::size_t count,
                                   std::uint64_t* __restrict__ keys) {
    on_gpu::for_each_item(count, [&](std::size_t i) {
        keys[i] = static_cast<std::uint64_t>(piece_at(parts.boundaries, parts.parts, static_cast<Index>(rows[i])));
    });
}

/// The first place of each part, and the end, from the sorted keys.
static __global__ void group_by_part(const std::uint64_t* __restrict__ keys, Index count, Index parts,
                                     Index* __restrict__ groups) {
    on_gpu::for_each_item(static_cast<std::size_t>(parts) + 1,
                          [&](std::size_t part) { groups[part] = count_below(keys, count, static_cast<std::uint64_t>(part)); });
}

/// The entries of a share, stored row by stored row.
struct EntriesOfShare {
    const Offset* offsets;  // [stored rows + 1]
    Index* columns;         // [entries]
    std::uint32_t* entries;
};

/// Copies the entries of a stored row, with columns relative to the first: those from `first` on, of which `gap` are left out
/// after the first `before`.
inline __device__ void copy_entries(const ReorderedOnGpu& matrix, Offset first, Offset before, Offset gap, Index first_column,
                                    const EntriesOfShare& share, Index stored, unsigned lane) {
    const Offset to = share.offsets[stored];
    const Offset length = share.offsets[stored + 1] - to;
    for (Offset k = lane; k < length; k += on_gpu::lanes) {
        const Offset from = first + k + (k < before ? 0 : gap);
        share.columns[to + k] = matrix.columns[from] - first_column;
        share.entries[to + k] = matrix.entries[from];
    }
}

/// Every lane of a slice inside is a stored row, which may be empty.
static __global__ void list_inside(PartsOnGpu parts, ReorderedOnGpu matrix, const EntriesInside* __restrict__ inside,
                                   EntriesOfShare share) {
    on_gpu::for_each_row(parts.slices * ehyb_height, [&](Index stored, unsigned lane) {
        const InsideLane own = inside_lane(parts, static_cast<std::size_t>(stored));
        if (own.row < 0) return;
        const EntriesInside of = inside[own.row];
        copy_entries(matrix, of.first, of.end - of.first, 0, own.first_column, share, stored, lane);
    });
}

static __global__ void list_outside(const Index* __restrict__ outside_rows, Index count, ReorderedOnGpu matrix,
                                    const EntriesInside* __restrict__ inside, EntriesOfShare share) {
    on_gpu::for_each_row(count, [&](Index stored, unsigned lane) {
        const Index row = outside_rows[stored];
        const EntriesInside of = inside[row];
        const Offset first = matrix.offsets[row];
        copy_entries(matrix, first, of.first - first, of.end - of.first, 0, share, stored, lane);
    });
}

}  // namespace workbench::dividing
