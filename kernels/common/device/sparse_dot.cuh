// The inner loop of every kernel: one lane's share of a row times x, and what becomes of the sums.
#pragma once

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// sum of values[k * stride] * x[columns[k * stride]] for k < count, the matrix read with `load`. `x` may point to global or to
/// shared memory. Strides and counts of a warp may differ from lane to lane. A lane loads entries_in_flight entries before it
/// uses the first: the fewer threads a multiprocessor holds, the more each must have under way to hide the latency of memory.
/// Where `may_lack_columns`, entries with a column below 0 are padding: they read no x. A stride beyond 2^29 must be an Offset.
template <int entries_in_flight, bool may_lack_columns, typename Value, typename ColumnIndex, typename Count, typename Stride,
          typename Load>
__device__ __forceinline__ Value sparse_dot(const Value* __restrict__ values, const ColumnIndex* __restrict__ columns,
                                            Count known_count, Stride stride, const Value* __restrict__ x, const Load& load) {
    Value sum = 0;
    for (Offset count = known_count; count > 0; count -= entries_in_flight) {
        Value value[entries_in_flight];
        ColumnIndex column[entries_in_flight];
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            value[u] = 0;
            column[u] = 0;
            if (u < count) {
                value[u] = load(values + u * stride);
                column[u] = load(columns + u * stride);
            }
        }
        // x is read for entries past the end, too, and not used: with a condition around each read the compiler may put it
        // right behind the loads that it needs, and then they wait for each other.
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            const bool lacks = may_lack_columns && column[u] < 0;
            const Value x_of_column = x[lacks ? ColumnIndex{0} : column[u]];
            if (u < count && !lacks) sum += value[u] * x_of_column;
        }
        values += entries_in_flight * stride;
        columns += entries_in_flight * stride;
    }
    return sum;
}

/// The sum over each group of `Lanes` neighbouring lanes, for the first lane of the group. All lanes of the warp take part.
template <int Lanes, typename Value>
__device__ __forceinline__ Value sum_over_lanes(Value sum) {
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance, Lanes);
    return sum;
}

/// y = sum, or y += sum.
template <typename Value>
__device__ __forceinline__ void write_result(Value* y, Value sum, bool accumulate) {
    *y = accumulate ? *y + sum : sum;
}

}  // namespace workbench
