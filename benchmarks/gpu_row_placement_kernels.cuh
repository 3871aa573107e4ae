// Kernels that sort the rows of tiles by length. A warp or a block processes a tile; barriers protect shared data.
#pragma once

#include <cub/block/block_radix_sort.cuh>

#include "hash_rows.cuh"

namespace workbench {

constexpr Index most_rows = 512;
constexpr Index most_length = 4096;  // the width of a segment
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// ---- the hash

template <int threads>
__global__ void place_by_hash(const Index* __restrict__ lengths, Index tiles, Index rows, Index sample,
                              Index* __restrict__ places) {
    extern __shared__ Index memory[];
    __shared__ typename HashTable<threads>::Shared shared;
    HashTable<threads>::begin(shared);
    for (Index tile = static_cast<Index>(blockIdx.x); tile < tiles; tile += static_cast<Index>(gridDim.x)) {
        const Offset first = Offset{tile} * rows;
        HashTable<threads>::place(lengths + first, rows, sample, shared, memory, places + first);
    }
}

/// Like place_by_hash for tiles of at most `width` rows with the hash fitted to all of them: `width` lanes compute ranks by
/// class, several tiles in a warp. Without by_class, the key is the length, which gives a sort by comparisons.
template <int width, bool by_class>
__global__ void place_in_lanes(const Index* __restrict__ lengths, Index tiles, Index rows, Index* __restrict__ places) {
    const auto lane = static_cast<int>(threadIdx.x % width);
    const Index stride = static_cast<Index>(gridDim.x * blockDim.x / width);
    const Index whole = (tiles + 32 / width - 1) / (32 / width) * (32 / width);  // keeps all lanes of a warp in the loop
    for (Index tile = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / width); tile < whole; tile += stride) {
        const bool there = tile < tiles && lane < rows;
        const Offset first = Offset{tile} * rows;
        const Index length = there ? lengths[first + lane] : most_length + 1;
        const int key = by_class && there ? length_class(length) : length;
        Index place = 0;
        for (int other = 0; other < width; ++other) {
            const int of_other = __shfl_sync(all_lanes, key, other, width);
            place += of_other < key || (of_other == key && other < lane) ? 1 : 0;
        }
        if (there) places[first + place] = lane;
    }
}

// ---- sorting by comparisons: a row's place is the number of rows before it. A warp sorts a tile of up to 64 rows.

__global__ void place_by_rank(const Index* __restrict__ lengths, Index tiles, Index rows, Index* __restrict__ places) {
    const auto lane = static_cast<Index>(threadIdx.x % 32);
    const Index warps = static_cast<Index>(gridDim.x * blockDim.x / 32);
    for (Index tile = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / 32); tile < tiles; tile += warps) {
        const Offset first = Offset{tile} * rows;
        const Index low = lane < rows ? lengths[first + lane] : most_length + 1;
        const Index high = lane + 32 < rows ? lengths[first + lane + 32] : most_length + 1;
        Index place_of_low = 0;
        Index place_of_high = 0;
        for (int other = 0; other < 32; ++other) {
            const Index other_low = __shfl_sync(all_lanes, low, other);
            const Index other_high = __shfl_sync(all_lanes, high, other);
            place_of_low += (other_low < low || (other_low == low && other < lane) ? 1 : 0) + (other_high < low ? 1 : 0);
            place_of_high += (other_low <= high ? 1 : 0) + (other_high < high || (other_high == high && other < lane) ? 1 : 0);
        }
        if (lane < rows) places[first + place_of_low] = lane;
        if (lane + 32 < rows) places[first + place_of_high] = lane + 32;
    }
}

// ---- CUB's radix sort in a block

template <int threads, int items>
__global__ void place_by_block_sort(const Index* __restrict__ lengths, Index tiles, Index rows, int bits,
                                    Index* __restrict__ places) {
    using Sort = cub::BlockRadixSort<std::uint32_t, threads, items, std::uint16_t>;
    __shared__ typename Sort::TempStorage memory;
    for (Index tile = static_cast<Index>(blockIdx.x); tile < tiles; tile += static_cast<Index>(gridDim.x)) {
        const Offset first = Offset{tile} * rows;
        std::uint32_t keys[items];
        std::uint16_t values[items];
        for (int item = 0; item < items; ++item) {
            const Index row = static_cast<Index>(threadIdx.x) * items + item;
            keys[item] = row < rows ? static_cast<std::uint32_t>(lengths[first + row]) : (1u << bits) - 1;
            values[item] = static_cast<std::uint16_t>(row);
        }
        Sort(memory).SortBlockedToStriped(keys, values, 0, bits);
        for (int item = 0; item < items; ++item) {
            const Index place = static_cast<Index>(threadIdx.x) + item * threads;
            if (place < rows) places[first + place] = values[item];
        }
        __syncthreads();
    }
}

// ---- counting sort, with a bin for each length up to the tile's longest row

/// The shared memory of the counting sort and the dynamic program. `bins`: length of the longest row + 1.
struct Counted {
    Index* counts;                // [bins + 1] rows of each length, then the first place of each
    unsigned short* warp_counts;  // [warps * bins]
    Index* sums;                  // [warps]
    Index* longest;               // of the tile
    Index bins;

    static __host__ __device__ std::size_t bytes(Index bins, int warps) {
        return sizeof(Index) * (bins + 2 + warps) + sizeof(unsigned short) * ((std::size_t{1} + bins) / 2 * 2) * warps;
    }
    __device__ Counted(unsigned char* memory, Index bins_, int warps) : bins(bins_) {
        counts = reinterpret_cast<Index*>(memory);
        sums = counts + bins + 1;
        longest = sums + warps;
        warp_counts = reinterpret_cast<unsigned short*>(longest + 1);
    }
};

/// The places of the rows of one chunk: consecutive from the start of each bin, in the order of the rows (see
/// HashTable::rank_in_class). bin -1: no row.
template <int threads>
__device__ Index place_in_bin(int bin, const Counted& counted, Index* bin_starts) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned alike = __match_any_sync(all_lanes, bin);
    const unsigned below = (1u << (threadIdx.x % 32)) - 1;
    const bool leads = bin >= 0 && (alike & below) == 0;
    if (leads) counted.warp_counts[warp * counted.bins + bin] = static_cast<unsigned short>(__popc(alike));
    __syncthreads();
    Index place = 0;
    if (bin >= 0) {
        place = bin_starts[bin] + __popc(alike & below);
        for (int other = 0; other < warp; ++other) place += counted.warp_counts[other * counted.bins + bin];
    }
    __syncthreads();
    if (leads) {
        atomicAdd(&bin_starts[bin], __popc(alike));
        counted.warp_counts[warp * counted.bins + bin] = 0;
    }
    __syncthreads();
    return place;
}

template <int threads>
__device__ void begin_counting(const Counted& counted) {
    for (Index i = static_cast<Index>(threadIdx.x); i < counted.bins * (threads / 32); i += threads) counted.warp_counts[i] = 0;
    __syncthreads();
}

template <int threads>
__device__ void count_lengths(const Index* __restrict__ lengths, Index rows, const Counted& counted) {
    if (threadIdx.x == 0) *counted.longest = 0;
    __syncthreads();
    Index own = 0;
    for (Index row = static_cast<Index>(threadIdx.x); row < rows; row += threads) own = max(own, lengths[row]);
    own = static_cast<Index>(__reduce_max_sync(all_lanes, static_cast<unsigned>(own)));
    if (threadIdx.x % 32 == 0) atomicMax(counted.longest, own);
    __syncthreads();
    for (Index i = static_cast<Index>(threadIdx.x); i <= *counted.longest; i += threads) counted.counts[i] = 0;
    __syncthreads();
    for (Index row = static_cast<Index>(threadIdx.x); row < rows; row += threads) atomicAdd(&counted.counts[lengths[row]], 1);
    __syncthreads();
}

/// Exclusive prefix sum over the threads of the block; `total`: the sum of all values.
template <int threads>
__device__ Index sum_before(Index value, const Counted& counted, Index& total) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Index sum = value;
    for (int distance = 1; distance < 32; distance *= 2) {
        const Index before = __shfl_up_sync(all_lanes, sum, distance);
        if (lane >= distance) sum += before;
    }
    if constexpr (threads == 32) {
        total = __shfl_sync(all_lanes, sum, 31);
        return sum - value;
    }
    if (lane == 31) counted.sums[warp] = sum;
    __syncthreads();
    Index before_warp = 0;
    total = 0;
    for (int other = 0; other < threads / 32; ++other) {
        if (other < warp) before_warp += counted.sums[other];
        total += counted.sums[other];
    }
    __syncthreads();
    return before_warp + sum - value;
}

template <int threads>
__global__ void place_by_counting(const Index* __restrict__ lengths, Index tiles, Index rows, Index bins,
                                  Index* __restrict__ places) {
    extern __shared__ unsigned char counting_memory[];
    const Counted counted(counting_memory, bins, threads / 32);
    begin_counting<threads>(counted);
    for (Index tile = static_cast<Index>(blockIdx.x); tile < tiles; tile += static_cast<Index>(gridDim.x)) {
        const Offset first = Offset{tile} * rows;
        count_lengths<threads>(lengths + first, rows, counted);
        Index before = 0;
        for (Index begin = 0; begin <= *counted.longest; begin += threads) {
            const Index bin = begin + static_cast<Index>(threadIdx.x);
            const bool there = bin <= *counted.longest;
            Index total = 0;
            const Index start = before + sum_before<threads>(there ? counted.counts[bin] : 0, counted, total);
            if (there) counted.counts[bin] = start;
            before += total;
        }
        __syncthreads();
        for (Index begin = 0; begin < rows; begin += threads) {
            const Index row = begin + static_cast<Index>(threadIdx.x);
            const int bin = row < rows ? lengths[first + row] : -1;
            const Index place = place_in_bin<threads>(bin, counted, counted.counts);
            if (row < rows) places[first + place] = row;
        }
    }
}

// ---- the dynamic program: groups of least padding (stages/least_padding.hpp); threads try the cuts of a layer in parallel

constexpr Index most_groups = 16;

/// The shared memory of a tile. `most`: the number of distinct lengths.
struct Program {
    Index* lengths;            // [most] distinct, ascending
    Index* rows_before;        // [most + 1]
    Index* nonzeros_before;    // [most + 1]
    Index* padding[2];         // [most + 1] of the current and the previous layer; below 512 * 4096
    Index* longest;            // [most_groups] of the groups, in reverse order
    Index* group_starts;       // [most_groups]
    Index* sizes;              // [2] distinct lengths, groups
    unsigned short* last_cut;  // [most_groups * (most + 1)]
    Index most;

    static __host__ __device__ std::size_t bytes(Index most) {
        return sizeof(Index) * (5 * (most + 1) + 2 * most_groups + 2) + sizeof(unsigned short) * most_groups * (most + 1);
    }
    __device__ Program(unsigned char* memory, Index most_) : most(most_) {
        Index* next = reinterpret_cast<Index*>(memory);
        for (Index** array : {&lengths, &rows_before, &nonzeros_before, &padding[0], &padding[1]}) {
            *array = next;
            next += most + 1;
        }
        longest = next;
        group_starts = longest + most_groups;
        sizes = group_starts + most_groups;
        last_cut = reinterpret_cast<unsigned short*>(sizes + 2);
    }

    [[nodiscard]] __device__ Index padding_of(Index first, Index end) const {
        return lengths[end - 1] * (rows_before[end] - rows_before[first]) - (nonzeros_before[end] - nonzeros_before[first]);
    }
};

/// Computes the distinct lengths of the tile, and sums over shorter rows.
template <int threads>
__device__ void list_lengths(const Program& program, const Counted& counted) {
    Index lengths_before = 0;
    Index rows_before = 0;
    Index nonzeros_before = 0;
    for (Index begin = 0; begin <= *counted.longest; begin += threads) {
        const Index length = begin + static_cast<Index>(threadIdx.x);
        const Index count = length <= *counted.longest ? counted.counts[length] : 0;
        Index lengths_here = 0;
        Index rows_here = 0;
        Index nonzeros_here = 0;
        const Index place = lengths_before + sum_before<threads>(count > 0 ? 1 : 0, counted, lengths_here);
        const Index rows = rows_before + sum_before<threads>(count, counted, rows_here);
        const Index nonzeros = nonzeros_before + sum_before<threads>(count * length, counted, nonzeros_here);
        if (count > 0) {
            program.lengths[place] = length;
            program.rows_before[place + 1] = rows + count;
            program.nonzeros_before[place + 1] = nonzeros + count * length;
        }
        lengths_before += lengths_here;
        rows_before += rows_here;
        nonzeros_before += nonzeros_here;
    }
    if (threadIdx.x == 0) {
        program.sizes[0] = lengths_before;
        program.rows_before[0] = 0;
        program.nonzeros_before[0] = 0;
    }
    __syncthreads();
}

template <int threads>
__device__ void find_groups(const Program& program, Index groups) {
    const Index distinct = program.sizes[0];
    for (Index end = static_cast<Index>(threadIdx.x); end <= distinct; end += threads) {
        program.padding[0][end] = end == 0 ? 0 : program.padding_of(0, end);
        program.last_cut[end] = 0;
    }
    __syncthreads();
    Index layer = 0;
    while (program.padding[layer % 2][distinct] > 0 && layer + 1 < groups) {
        const Index* const before = program.padding[layer % 2];
        ++layer;
        for (Index end = static_cast<Index>(threadIdx.x); end <= distinct; end += threads) {
            Index best = end == 0 ? 0 : 0x7FFFFFFF;
            Index best_cut = 0;
            for (Index cut = 0; cut < end; ++cut) {
                const Index padding = before[cut] + program.padding_of(cut, end);
                if (padding < best) {
                    best = padding;
                    best_cut = cut;
                }
            }
            program.padding[layer % 2][end] = best;
            program.last_cut[layer * (program.most + 1) + end] = static_cast<unsigned short>(best_cut);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        Index found = 0;
        Index end = distinct;
        for (Index from = layer; from >= 0 && end > 0; --from) {
            const Index cut = program.last_cut[from * (program.most + 1) + end];
            program.longest[found] = program.lengths[end - 1];
            program.group_starts[found++] = program.rows_before[cut];
            end = cut;
        }
        program.sizes[1] = found;
    }
    __syncthreads();
}

template <int threads>
__global__ void place_by_program(const Index* __restrict__ lengths, Index tiles, Index rows, Index bins, Index groups,
                                 Index* __restrict__ places) {
    extern __shared__ unsigned char program_memory[];
    const Counted counted(program_memory, bins, threads / 32);
    const Program program(program_memory + Counted::bytes(bins, threads / 32), min(rows, bins));
    begin_counting<threads>(counted);
    for (Index tile = static_cast<Index>(blockIdx.x); tile < tiles; tile += static_cast<Index>(gridDim.x)) {
        const Offset first = Offset{tile} * rows;
        count_lengths<threads>(lengths + first, rows, counted);
        list_lengths<threads>(program, counted);
        find_groups<threads>(program, groups);
        for (Index begin = 0; begin < rows; begin += threads) {
            const Index row = begin + static_cast<Index>(threadIdx.x);
            int group = -1;
            if (row < rows) {
                group = program.sizes[1] - 1;
                while (lengths[first + row] > program.longest[group]) --group;
            }
            const Index place = place_in_bin<threads>(group, counted, program.group_starts);
            if (row < rows) places[first + place] = row;
        }
    }
}

}  // namespace workbench
