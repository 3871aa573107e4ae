// The CUDA kernel of all schedules whose threads read one run of slots for one row. Exactly one thread writes a row of y, the
// first of those that share it; for an atomic schedule, y is zeroed on the stream and then added to atomically. So threads
// cannot race in global memory. Shared memory holds only a dictionary of values, which is complete before it is read.
#pragma once

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/schedule/run.hpp"

namespace workbench {

/// A pointer to the values of a run, or an object that represents one.
template <Schedule S>
__device__ __forceinline__ auto values_of_run(const auto& arrays, const auto& run) {
    if constexpr (HasLineValues<decltype(arrays)>) {
        return LineValuePointer<std::remove_cvref_t<decltype(arrays.values.value)>>(arrays);
    } else {
        return slot_values<S>(arrays).data() + run.first;
    }
}

/// The sum of a row, multiplied by the row's value if rows have one.
template <typename Value>
__device__ __forceinline__ Value times_row_value(const auto& arrays, Index row, Value sum) {
    if constexpr (HasLineValues<decltype(arrays)>) {
        if (arrays.row_values.size() > 0) return sum * __ldg(arrays.row_values.data() + row);
    }
    return sum;
}

/// Words contain the columns, unless a state counts them.
template <Schedule S, typename Arrays>
inline constexpr bool has_columns_in_words =
    HasColumns<decltype(slot_values<S>(std::declval<Arrays>()))> && !S::hooks.own_state;

/// The product of a run and x, with columns that are stored parallel to the values.
template <Schedule S, typename Value, typename Load>
__device__ __forceinline__ Value multiply_stored_run(const auto& arrays, const auto& run, const Value* __restrict__ x,
                                                     const Load& load) {
    constexpr DotPolicy policy{S::entries_in_flight, S::no_column != NoColumn::never, S::counts_alike};
    const auto values = values_of_run<S>(arrays, run);
    if constexpr (has_columns_in_words<S, decltype(arrays)>) {
        return sparse_dot<policy>(values, InWords{}, run.count, number_of(run.stride), x + run.first_column, load);
    } else {
        return sparse_dot<policy>(values, slot_columns<S>(arrays).data() + run.first, run.count, number_of(run.stride),
                                  x + run.first_column, load);
    }
}

/// The product of a run and x. A thread loads entries_in_flight entries before it uses the first: the fewer threads a
/// multiprocessor holds, the more loads of each must be in flight to hide the latency of memory. x may be in global or shared
/// memory.
template <Schedule S, typename Value, typename Load>
__device__ __forceinline__ Value multiply_run(const auto& arrays, const auto& run, const Value* __restrict__ x,
                                              const Load& load) {
    constexpr int in_flight = S::entries_in_flight;
    constexpr bool column_first = S::no_column == NoColumn::column_read || S::no_column == NoColumn::skipped;
    constexpr bool is_strided = requires { run.stride; };  // unlike runs on jagged diagonals
    if constexpr (is_strided && (has_columns_in_words<S, decltype(arrays)> || (!column_first && !decodes_columns<S>))) {
        return multiply_stored_run<S>(arrays, run, x, load);
    } else {
        if constexpr (S::hooks.own_has_plain_columns) {
            if (S::has_plain_columns(run)) return multiply_stored_run<S>(arrays, run, x, load);
        }
        const auto values = slot_values<S>(arrays).data();
        auto state = state_of_run<S>(arrays, run, load);
        Value sum = 0;
        for (Offset k = 0; k < run.count; k += in_flight) {
            Value value[in_flight];
            Index column[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                if (k + u < run.count) {
                    column[u] = load_column<S>(arrays, run, RunSlot{k + u, run.slot(k + u)}, load, state);
                    if (!column_first || column[u] >= 0) value[u] = load(values + run.slot(k + u));
                }
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                if (k + u < run.count && (S::no_column == NoColumn::never || column[u] >= 0)) {
                    sum += value[u] * (x + run.first_column)[column[u]];
                }
            }
        }
        return sum;
    }
}

/// The sum over the lanes of a row, in the first of them. All lanes of the warp take part.
template <Schedule S, typename Value>
__device__ __forceinline__ Value sum_over_row(Value sum) {
#pragma unroll
    for (int distance = S::lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance * S::lane_distance);
    }
    return sum;
}

template <Schedule S, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads, S::lanes == 1 || S::counts_alike ? S::resident_blocks : 0)
    multiply_rows(const __grid_constant__ Arrays arrays, const TargetRows target, const Value* __restrict__ x,
                  Value* __restrict__ y, bool accumulate) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x;
    const auto load = loads_of_block(slot_values<S>(arrays));
    const auto run = S::run(arrays, thread, load);
    if constexpr (S::lanes == 1) {
        if (run.row < 0) return;  // so early that the rest is one basic block, whose loads can all be issued first
    }
    Value sum = 0;
    if (run.row >= 0) sum = multiply_run<S>(arrays, run, x, load);
    // Outside the branch, because all threads of a warp take part, including those past the last row.
    if constexpr (S::lanes > 1) sum = sum_over_row<S>(sum);
    if (run.row < 0 || lane_of<S>(thread) != 0) return;
    sum = times_row_value(arrays, run.row, sum);
    Value* const y_of_row = y + target[row_of_run<S>(arrays, run, load)];
    if constexpr (S::atomic) {
        if (S::no_column == NoColumn::never || sum != 0) atomicAdd(y_of_row, sum);  // nothing for padding
    } else {
        write_result(y_of_row, sum, accumulate);
    }
}

}  // namespace workbench
