// The inner loop of kernels: one lane's share of a row times x, and how it writes the sum.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/matrix/types.hpp"
#include "kernels/common/storage/coded_values.hpp"

namespace workbench {

/// True for the columns that mark padding.
__device__ __forceinline__ bool marks_padding(Index column) { return column < 0; }
__device__ __forceinline__ bool marks_padding(std::uint16_t column) { return column == padding_column; }

/// The value of a slot: the one that was loaded, or that of its column.
template <typename Value>
__device__ __forceinline__ Value value_in_column(const auto& values, Value loaded, Index column, const auto& load) {
    if constexpr (requires { values.in_column(column, load); }) {
        return values.in_column(column, load);
    } else {
        return loaded;
    }
}

/// Like add_batch, for entries whose value and column are one word.
template <int batch, bool all, typename Value>
__device__ __forceinline__ void add_words(const auto& words, auto count, auto stride, const Value* __restrict__ x,
                                          const auto& load, Value& sum) {
    std::remove_cvref_t<decltype(*words.code)> word[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (all || u < count) word[u] = load(words.code + u * stride);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (all || u < count) sum += load.value_of(words, word[u]) * x[words.column(word[u])];
    }
}

/// How sparse_dot reads its entries.
struct DotPolicy {
    int entries_in_flight = 1;      // that a lane loads before it uses the first
    bool may_lack_columns = false;  // entries with a column below 0 are padding and read no x
    bool counts_alike = false;      // in a warp, about: full batches are loaded without tests, and the remainder apart
};

/// Adds the products of a batch of entries to a sum: all of them, or the first `count`. The batch is loaded before its first
/// entry is used. values, columns: pointers, or what stands for them (coded_values.hpp).
template <int batch, bool all, bool may_lack_columns, typename Value>
__device__ __forceinline__ void add_batch(auto values, auto columns, auto count, auto stride, const Value* __restrict__ x,
                                          const auto& load, Value& sum) {
    if constexpr (std::is_same_v<decltype(columns), InWords>) {
        return add_words<batch, all>(values, count, stride, x, load, sum);
    } else {
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
            if ((all || u < count) && !(may_lack_columns && marks_padding(column[u]))) {
                sum += value_in_column(values, value[u], column[u], load) * x[column[u]];
            }
        }
    }
}

/// The sum of values[k * stride] * x[columns[k * stride]] for k < count, with the matrix read by `load`. `x` may point to
/// global or shared memory. Strides and counts may differ from lane to lane. The fewer threads a multiprocessor holds, the more
/// entries each must have in flight to hide the latency of memory. A stride beyond 2^29 must be an Offset. values, columns:
/// pointers, or what stands for them (coded_values.hpp).
template <DotPolicy policy, typename Value>
__device__ __forceinline__ Value sparse_dot(auto values, auto columns, auto known_count, auto stride,
                                            const Value* __restrict__ x, const auto& load) {
    constexpr int batch = policy.entries_in_flight;
    Value sum = 0;
    if constexpr (policy.counts_alike) {
        auto count = static_cast<Index>(known_count);  // no row has more entries than there are columns
#pragma unroll 1  // with two batches at a time the compiler loads the values after the columns have arrived
        for (; count >= batch; count -= batch) {
            add_batch<batch, true, policy.may_lack_columns>(values, columns, count, stride, x, load, sum);
            values += batch * stride;
            columns += batch * stride;
        }
        if (count > 0) add_batch<batch - 1, false, policy.may_lack_columns>(values, columns, count, stride, x, load, sum);
    } else {
        for (Offset count = known_count; count > 0; count -= batch) {
            add_batch<batch, false, policy.may_lack_columns>(values, columns, count, stride, x, load, sum);
            values += batch * stride;
            columns += batch * stride;
        }
    }
    return sum;
}

/// The row of y for each row of a layout: the same, or for a share that of the whole matrix. No row is listed twice.
struct TargetRows {
    const Index* rows = nullptr;  // [rows of the layout]; null: each is itself

    __device__ __forceinline__ Index operator[](Index row) const { return rows == nullptr ? row : __ldcs(rows + row); }
};

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
