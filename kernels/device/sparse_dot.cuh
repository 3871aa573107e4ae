// The inner loop of kernels: one lane's share of a row times x, and how it writes the sum.
#pragma once

#include <type_traits>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Adds the products of a batch of entries to a sum: all of them, or the first `count`. The batch is loaded before its first
/// entry is used.
template <int batch, bool all, bool may_lack_columns, typename Value>
__device__ __forceinline__ void add_batch(const Value* __restrict__ values, const auto* __restrict__ columns, auto count,
                                          auto stride, const Value* __restrict__ x, const auto& load, Value& sum) {
    Value value[batch];
    std::remove_cvref_t<decltype(*columns)> column[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {  // first, since the loads of x depend on them
        if (all || u < count) column[u] = load(columns + u * stride);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (all || u < count) value[u] = load(values + u * stride);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if ((all || u < count) && !(may_lack_columns && column[u] < 0)) sum += value[u] * x[column[u]];
    }
}

/// The sum of values[k * stride] * x[columns[k * stride]] for k < count, with the matrix read by `load`. `x` may point to
/// global or shared memory. Strides and counts may differ from lane to lane. A lane loads entries_in_flight entries before it
/// uses the first: the fewer threads a multiprocessor holds, the more each must have in flight to hide the latency of memory.
/// may_lack_columns: entries with a column below 0 are padding and read no x. A stride beyond 2^29 must be an Offset.
/// counts_alike: the counts of a warp are about equal, so that full batches are loaded without tests and the remainder apart.
template <int entries_in_flight, bool may_lack_columns, bool counts_alike = false, typename Value, typename ColumnIndex,
          typename Count, typename Stride, typename Load>
__device__ __forceinline__ Value sparse_dot(const Value* __restrict__ values, const ColumnIndex* __restrict__ columns,
                                            Count known_count, Stride stride, const Value* __restrict__ x, const Load& load) {
    Value sum = 0;
    if constexpr (counts_alike) {
        auto count = static_cast<Index>(known_count);  // no row has more entries than there are columns
#pragma unroll 1  // with two batches at a time the compiler loads the values after the columns have arrived
        for (; count >= entries_in_flight; count -= entries_in_flight) {
            add_batch<entries_in_flight, true, may_lack_columns>(values, columns, count, stride, x, load, sum);
            values += entries_in_flight * stride;
            columns += entries_in_flight * stride;
        }
        if (count > 0) add_batch<entries_in_flight - 1, false, may_lack_columns>(values, columns, count, stride, x, load, sum);
    } else {
        for (Offset count = known_count; count > 0; count -= entries_in_flight) {
            add_batch<entries_in_flight, false, may_lack_columns>(values, columns, count, stride, x, load, sum);
            values += entries_in_flight * stride;
            columns += entries_in_flight * stride;
        }
    }
    return sum;
}

/// y = sum, or y += sum.
template <typename Value>
__device__ __forceinline__ void write_result(Value* y, Value sum, bool accumulate) {
    *y = accumulate ? *y + sum : sum;
}

/// The vectors of y = A x, or y += A x.
template <typename Value>
struct ProductVectors {
    const Value* x;
    Value* y;
    bool accumulate;

    __device__ __forceinline__ void put(Offset row, Value sum) const { write_result(y + row, sum, accumulate); }
};

}  // namespace workbench
