// The nonlinear hash for all rows of a table in parallel.
//
// The host places rows one after the other, each in the first free slot from the slot of its class onward, or, if there is none
// up to the end, in the last free slot (stages/length_hash.hpp). Every row thus prefers the slots in a certain order, and the
// earlier of two rows wins a slot. This is a stable matching in which all slots rank the rows alike. It is unique, and
// proposals in any order lead to it (Gale and Shapley, 1962): each row proposes to its slots in turn, a slot keeps the earliest
// row that has proposed, and the rejected row proposes to its next slot. The result is therefore bit-identical to the host's,
// whatever the order of the threads. The k-th row of a class can skip the first k slots of its class, because the k earlier
// rows of the class prefer the same slots.
#pragma once

#include <cuda_runtime_api.h>

#include "core/matrix/length_hash.hpp"

namespace workbench {

/// Bytes of dynamic shared memory for a table of `rows` rows: its slots and the first slot of each row.
[[nodiscard]] constexpr std::size_t hash_table_bytes(Index rows) { return 2 * sizeof(Index) * static_cast<std::size_t>(rows); }

/// Places the rows of one table with the threads of a block.
template <int threads>
class HashTable {
public:
    static constexpr int warps = threads / 32;
    static constexpr Index no_row = 0x7FFFFFFF;

    /// The block's state in shared memory.
    struct Shared {
        Index counts[length_classes];      // rows of the sample, by class
        Index starts[length_classes + 1];  // the first slot of each class; the last entry serves classes above the sample's
        Index ranks[length_classes + 1];   // rows of each class placed so far
        Index warp_counts[warps][length_classes + 1];
        int classes;  // classes up to the highest in the sample
    };

    /// Call once, before the first table of a block.
    __device__ static void begin(Shared& shared) {
        for (int i = static_cast<int>(threadIdx.x); i <= length_classes; i += threads) {
            if (i < length_classes) shared.counts[i] = 0;
            shared.ranks[i] = 0;
            for (int warp = 0; warp < warps; ++warp) shared.warp_counts[warp][i] = 0;
        }
        if (threadIdx.x == 0) shared.classes = 0;
        __syncthreads();
    }

    /// lengths: [rows] nonzeros per row of the table, rows >= 1. memory: hash_table_bytes(rows). places: [rows] receives the
    /// row in each slot. Restores the block's state to that after `begin`.
    __device__ static void place(const Index* __restrict__ lengths, Index rows, Index sample, Shared& shared, Index* memory,
                                 Index* __restrict__ places) {
        Index* const holders = memory;
        Index* const homes = memory + rows;
        sample = min(sample, rows);
        if constexpr (warps == 1) {
            if (sample == rows && rows <= 64) return place_few(lengths, rows, places);
        }
        for (Index slot = static_cast<Index>(threadIdx.x); slot < rows; slot += threads) holders[slot] = no_row;
        count_sample(lengths, rows, sample, shared);
        if (threadIdx.x < 32) fit(rows, sample, shared);
        __syncthreads();
        for (Index first = 0; first < rows; first += threads) {
            const Index row = first + static_cast<Index>(threadIdx.x);
            const int own_class = row < rows ? min(length_class(lengths[row]), shared.classes) : -1;
            const Index rank = rank_in_class(own_class, shared);
            if (row < rows) homes[row] = shared.starts[own_class];
            __syncthreads();  // a rejected row continues from its first slot
            if (row < rows) propose(row, rank, holders, homes, rows);
        }
        __syncthreads();
        for (Index slot = static_cast<Index>(threadIdx.x); slot < rows; slot += threads) places[slot] = holders[slot];
        for (int i = static_cast<int>(threadIdx.x); i <= shared.classes; i += threads) {
            if (i < length_classes) shared.counts[i] = 0;
            shared.ranks[i] = 0;
        }
        __syncthreads();
        if (threadIdx.x == 0) shared.classes = 0;
        __syncthreads();
    }

private:
    /// If the fit is exact, a row's slot is the number of rows of lower classes plus those of its class before it. One warp, 64
    /// rows.
    __device__ static void place_few(const Index* __restrict__ lengths, Index rows, Index* __restrict__ places) {
        const auto lane = static_cast<Index>(threadIdx.x);
        const int low = lane < rows ? length_class(lengths[lane]) : length_classes;
        const int high = lane + 32 < rows ? length_class(lengths[lane + 32]) : length_classes;
        Index slot_of_low = 0;
        Index slot_of_high = 0;
        for (int other = 0; other < 32; ++other) {
            const int other_low = __shfl_sync(0xFFFFFFFFu, low, other);
            const int other_high = __shfl_sync(0xFFFFFFFFu, high, other);
            slot_of_low += (other_low < low || (other_low == low && other < lane) ? 1 : 0) + (other_high < low ? 1 : 0);
            slot_of_high += (other_low <= high ? 1 : 0) + (other_high < high || (other_high == high && other < lane) ? 1 : 0);
        }
        if (lane < rows) places[slot_of_low] = lane;
        if (lane + 32 < rows) places[slot_of_high] = lane + 32;
    }

    __device__ static void count_sample(const Index* __restrict__ lengths, Index rows, Index sample, Shared& shared) {
        const SampledRows sampled(sample, rows);
        for (Index i = static_cast<Index>(threadIdx.x); i < sample; i += threads) {
            const int of_row = length_class(lengths[sampled.row(i)]);
            atomicAdd(&shared.counts[of_row], 1);
            atomicMax(&shared.classes, of_row + 1);
        }
        __syncthreads();
    }

    /// One warp: prefix sums of the counts, and starts that do not descend.
    __device__ static void fit(Index rows, Index sample, Shared& shared) {
        const int lane = static_cast<int>(threadIdx.x);
        Index shorter = 0;
        Index latest = 0;
        for (int first = 0; first < shared.classes; first += 32) {
            const int own = first + lane;
            const Index count = own < shared.classes ? shared.counts[own] : 0;
            Index sum = count;
            for (int distance = 1; distance < 32; distance *= 2) {
                const Index before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
                if (lane >= distance) sum += before;
            }
            Index start = class_start(shorter + sum - count, sample, rows, [](double value) { return sqrt(value); });
            start = max(start, latest);
            for (int distance = 1; distance < 32; distance *= 2) {
                const Index before = __shfl_up_sync(0xFFFFFFFFu, start, distance);
                if (lane >= distance) start = max(start, before);
            }
            if (own < shared.classes) shared.starts[own] = start;
            shorter += __shfl_sync(0xFFFFFFFFu, sum, 31);
            latest = __shfl_sync(0xFFFFFFFFu, start, 31);
        }
        if (lane == 0) shared.starts[shared.classes] = rows - 1;
    }

    /// The number of rows of its class before this thread's row. All threads must call it; class -1: no row.
    __device__ static Index rank_in_class(int own_class, Shared& shared) {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const unsigned alike = __match_any_sync(0xFFFFFFFFu, own_class);
        const unsigned below = (1u << (threadIdx.x % 32)) - 1;
        const bool leads = own_class >= 0 && (alike & below) == 0;
        if (leads) shared.warp_counts[warp][own_class] = __popc(alike);
        __syncthreads();
        Index rank = 0;
        if (own_class >= 0) {
            rank = shared.ranks[own_class] + __popc(alike & below);
            for (int other = 0; other < warp; ++other) rank += shared.warp_counts[other][own_class];
        }
        __syncthreads();
        if (leads) {
            atomicAdd(&shared.ranks[own_class], __popc(alike));
            shared.warp_counts[warp][own_class] = 0;
        }
        return rank;
    }

    /// Proposes from the row's position-th slot onward until no row is rejected.
    __device__ static void propose(Index row, Index position, Index* holders, const Index* homes, Index rows) {
        Index home = homes[row];
        for (;;) {
            const Index slot = slot_at(home, position, rows);
            const Index holder = atomicMin(&holders[slot], row);
            if (holder == no_row) return;
            if (holder > row) {
                row = holder;
                home = homes[row];
                position = position_of(home, slot, rows);
            }
            ++position;
        }
    }
};

}  // namespace workbench
