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
            if (u < count) {
                value[u] = load(values + u * stride);
                column[u] = load(columns + u * stride);
            }
        }
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (u < count && !(may_lack_columns && column[u] < 0)) sum += value[u] * x[column[u]];
        }
        values += entries_in_flight * stride;
        columns += entries_in_flight * stride;
    }
    return sum;
}

/// y = sum, or y += sum.
template <typename Value>
__device__ __forceinline__ void write_result(Value* y, Value sum, bool accumulate) {
    *y = accumulate ? *y + sum : sum;
}

}  // namespace workbench
