// The CUDA kernel of schedules for several vectors, Y = A X with X and Y row by row. It reads the matrix once, and the sums of
// a part of the vectors are in registers. NVRTC compiles it when it is prepared
// (kernels/common/compilation/kernel_instance.hpp), for the number of vectors. Threads cannot race, for the reason that
// rows_kernel.cuh states.
#pragma once

#include "kernels/common/device_code/packets.cuh"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/common/schedule/vector_tiles.hpp"

namespace workbench {

/// The value and the column of an entry, from the loads of a kernel. column: from the run's first one on; negative: padding.
template <Schedule S, typename Value>
__device__ __forceinline__ void load_entry(const auto& arrays, const auto& run, Offset k, const auto& load, auto& state,
                                           Value& value, Index& column) {
    const RunSlot place{k, run.slot(k)};
    if constexpr (has_columns_in_words<S, decltype(arrays)>) {
        const auto words = slot_values<S>(arrays).data();
        const auto word = load(words.code + place.slot);
        value = load.value_of(words, word);
        column = words.column(word);
    } else {
        column = load_column<S>(arrays, run, place, load, state);
        if constexpr (HasLineValues<decltype(arrays)>) {
            value = LineValuePointer<Value>(arrays).in_column(column, load);
        } else {
            constexpr bool column_first = S::no_column == NoColumn::column_read || S::no_column == NoColumn::skipped;
            if (!column_first || column >= 0) value = load(slot_values<S>(arrays).data() + place.slot);
        }
    }
}

/// A part's share of a row of X or Y.
template <typename Value, VectorTiles tiles>
struct PartOfVectors {
    using OnePacket = Packet<Value, tiles.packet>;
    OnePacket packets[tiles.own];

    /// visit(packet, its place in the row), for those that the row has.
    static __device__ __forceinline__ void for_each(int part, const auto& visit) {
#pragma unroll
        for (int i = 0; i < tiles.own; ++i) {
            const int number = i * tiles.parts + part;
            if (tiles.packets % tiles.parts == 0 || number < tiles.packets) visit(i, number);
        }
    }

    friend __device__ __forceinline__ PartOfVectors operator+(const PartOfVectors& one, const PartOfVectors& other) {
        PartOfVectors sum;
#pragma unroll
        for (int i = 0; i < tiles.own * tiles.packet; ++i) element(sum, i) = element(one, i) + element(other, i);
        return sum;
    }
    /// For segmented_sums.
    friend __device__ __forceinline__ PartOfVectors from_lane_before(const PartOfVectors& own, int distance) {
        PartOfVectors before;
#pragma unroll
        for (int i = 0; i < tiles.own * tiles.packet; ++i) {
            element(before, i) = __shfl_up_sync(~0U, element(own, i), distance);
        }
        return before;
    }
    static __device__ __forceinline__ auto& element(auto& part, int i) {
        return part.packets[i / tiles.packet].elements[i % tiles.packet];
    }
};

/// Adds the entries [begin, begin + batch) of a run.
template <Schedule S, VectorTiles tiles, int batch, typename Value>
__device__ __forceinline__ void add_entries(const auto& arrays, const auto& run, Offset begin, int part,
                                            const Value* __restrict__ x, const auto& load, auto& state,
                                            PartOfVectors<Value, tiles>& sums) {
    using Part = PartOfVectors<Value, tiles>;
    Value value[batch];
    Index column[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) load_entry<S>(arrays, run, begin + u, load, state, value[u], column[u]);
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (S::no_column != NoColumn::never && column[u] < 0) continue;
        const auto* const row_of_x = reinterpret_cast<const typename Part::OnePacket*>(
            x + (Offset{run.first_column} + column[u]) * (tiles.packet * tiles.packets));
        Part::for_each(part, [&](int i, int number) {
            const auto packet = row_of_x[number];
#pragma unroll
            for (int j = 0; j < tiles.packet; ++j) sums.packets[i].elements[j] += value[u] * packet.elements[j];
        });
    }
}

template <Schedule S, VectorTiles tiles, typename Value>
__device__ __forceinline__ void write_sums(const auto& arrays, const auto& run, int part, const TargetRows& target,
                                           const auto& load, bool accumulate, PartOfVectors<Value, tiles>& sums,
                                           Value* __restrict__ y) {
    using Part = PartOfVectors<Value, tiles>;
    const Value factor = times_row_value(arrays, run.row, Value{1});
    Value* const row_of_y = y + Offset{target[row_of_run<S>(arrays, run, load)]} * (tiles.packet * tiles.packets);
    Part::for_each(part, [&](int i, int number) {
        auto& packet = sums.packets[i];
        auto* const place = reinterpret_cast<typename Part::OnePacket*>(row_of_y) + number;
#pragma unroll
        for (int j = 0; j < tiles.packet; ++j) {
            packet.elements[j] *= factor;
            if constexpr (S::atomic) {
                if (S::no_column == NoColumn::never || packet.elements[j] != 0)
                    atomicAdd(&place->elements[j], packet.elements[j]);
            } else if (accumulate) {
                packet.elements[j] += place->elements[j];
            }
        }
        if constexpr (!S::atomic) *place = packet;
    });
}

/// The thread of the schedule with this number, if the lanes of each row are neighbours.
template <Schedule S>
__device__ __forceinline__ Offset thread_of_schedule(Offset number) {
    if constexpr (S::lanes == 1 || S::lane_distance == 1) {
        return number;
    } else {
        const Offset row = number / S::lanes;
        return row / S::lane_distance * (S::lanes * S::lane_distance) + number % S::lanes * S::lane_distance +
               row % S::lane_distance;
    }
}

template <Schedule S, VectorTiles tiles, typename Value>
__device__ __forceinline__ void multiply_part(const auto& arrays, Offset thread, const TargetRows& target,
                                              const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    constexpr int batch = entries_of_batch;
    const auto load = loads_of_block(slot_values<S>(arrays));
    const int part = static_cast<int>(thread % tiles.parts);
    const Offset of_schedule = thread_of_schedule<S>(thread / tiles.parts);
    const auto run = S::run(arrays, of_schedule, load);
    if constexpr (S::lanes == 1) {
        if (run.row < 0) return;
    }
    PartOfVectors<Value, tiles> sums{};
    if (run.row >= 0) {
        auto state = state_of_run<S>(arrays, run, load);
        const Offset count = run.count;
        Offset k = 0;
        for (; k + batch <= count; k += batch) add_entries<S, tiles, batch>(arrays, run, k, part, x, load, state, sums);
        for (; k < count; ++k) add_entries<S, tiles, 1>(arrays, run, k, part, x, load, state, sums);
    }
    if constexpr (S::lanes > 1) {
#pragma unroll
        for (int distance = S::lanes / 2; distance > 0; distance /= 2) {
#pragma unroll
            for (int i = 0; i < tiles.own * tiles.packet; ++i) {
                Value& sum = sums.element(sums, i);
                sum += __shfl_down_sync(~0u, sum, distance * tiles.parts);
            }
        }
    }
    if (run.row < 0 || lane_of<S>(of_schedule) != 0) return;
    write_sums<S>(arrays, run, part, target, load, accumulate, sums, y);
}

template <Schedule S, typename Arrays, typename Value, int vectors>
__global__ void __launch_bounds__(row_threads)
    multiply_rows_of_vectors(const __grid_constant__ Arrays arrays, const TargetRows target, const Value* __restrict__ x,
                             Value* __restrict__ y, bool accumulate) {
    constexpr VectorTiles tiles = vector_tiles(S::lanes, vectors, sizeof(Value));
    const Offset thread = static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x;
    multiply_part<S, tiles>(arrays, thread, target, x, y, accumulate);
}

}  // namespace workbench
