// Loops over all cores of the host, for the builders and the Kokkos kernels, and how these write y. The loops themselves are in
// host_loops.cpp, so that formats beside a recipe, which include this header, need no Kokkos.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "core/contract/precision.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// Calls work(body, begin, end) for chunks of at most `chunk` numbers that cover [0, count). Threads take the next chunk as
/// they become idle. Throws the first exception that `work` throws, after all chunks.
void for_chunks_in_parallel(std::int64_t count, std::int64_t chunk,
                            void (*work)(const void* body, std::int64_t begin, std::int64_t end), const void* body);

/// Rows that a thread takes at a time where each needs about the same work.
inline constexpr int rows_of_chunk = 256;

/// body(i) for i in [0, count); it may throw. Threads take `chunk` iterations at a time as they become idle: for iterations of
/// unequal work.
template <typename Body>
void for_each_in_parallel(std::int64_t count, int chunk, const Body& body) {
    const auto work = [](const void* of_chunks, std::int64_t begin, std::int64_t end) {
        const Body& each = *static_cast<const Body*>(of_chunks);
        for (std::int64_t i = begin; i < end; ++i) each(i);
    };
    for_chunks_in_parallel(count, chunk, work, &body);
}

/// The number of i in [0, count) for which the condition holds.
template <typename Condition>
[[nodiscard]] std::int64_t count_in_parallel(std::int64_t count, const Condition& condition) {
    constexpr std::int64_t chunk = 1 << 15;
    std::atomic<std::int64_t> found = 0;
    for_each_in_parallel((count + chunk - 1) / chunk, 1, [&](std::int64_t number) {
        std::int64_t found_here = 0;
        for (std::int64_t i = number * chunk; i < count && i < (number + 1) * chunk; ++i) found_here += condition(i) ? 1 : 0;
        found += found_here;
    });
    return found;
}

/// Adds a sum to a row of y, or writes it there.
template <ValueType Value>
void put(Value* y, Index row, Value sum, bool accumulate) {
    y[row] = accumulate ? y[row] + sum : sum;
}

/// False for NaN and infinities. A kernel that multiplies padding by x of other rows looks at its sums: where one is not
/// finite, an x that is not may have reached it through padding, and the sum is made again without padding.
template <ValueType Value>
[[nodiscard]] bool is_finite(Value sum) {
    return sum - sum == 0;  // NOLINT(misc-redundant-expression): false for them
}

/// True only if all of them are finite. Their total is looked at, which may also overflow.
template <ValueType Value>
[[nodiscard]] bool are_finite(const Value* sums, std::int64_t count) {
    constexpr int at_once = 8;  // so that the compiler uses vectors
    std::array<Value, at_once> totals{};
    std::int64_t i = 0;
    for (; i + at_once <= count; i += at_once) {
        for (int j = 0; j < at_once; ++j) totals[j] += sums[i + j];
    }
    for (; i < count; ++i) totals[0] += sums[i];
    for (int j = 1; j < at_once; ++j) totals[0] += totals[j];
    return is_finite(totals[0]);
}

/// are_finite for a vector x, in parallel: before y += A x, as y is lost when its sums are looked at.
template <ValueType Value>
[[nodiscard]] bool is_finite_vector(const Value* x, std::int64_t count) {
    constexpr std::int64_t chunk = 1 << 15;
    return count_in_parallel((count + chunk - 1) / chunk, [&](std::int64_t number) {
               return !are_finite(x + number * chunk, std::min(chunk, count - number * chunk));
           }) == 0;
}

/// Adds a sum to a row of y to which other threads add, too.
template <ValueType Value>
void add_atomically(Value* y, Index row, Value sum) {
    std::atomic_ref<Value>(y[row]).fetch_add(sum, std::memory_order_relaxed);
}

}  // namespace workbench
