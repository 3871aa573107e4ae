// Loops over all cores of the host, for the builders and the Kokkos kernels, and how these write y.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

/// body(i) for i in [0, count); it may throw. Threads take `chunk` iterations at a time as they become idle: for iterations of
/// unequal work.
template <typename Body>
void for_each_in_parallel(std::int64_t count, int chunk, const Body& body) {
    using Policy = Kokkos::RangePolicy<HostSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
    Policy policy(0, count);
    policy.set_chunk_size(chunk);
    guarded_for("host_loop", policy, body);
}

/// For how many i in [0, count) the condition holds, which must not throw.
template <typename Condition>
[[nodiscard]] std::int64_t count_in_parallel(std::int64_t count, const Condition& condition) {
    std::int64_t found = 0;
    Kokkos::parallel_reduce(
        Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::int64_t>>(0, count),
        [&](std::int64_t i, std::int64_t& sum) { sum += condition(i) ? 1 : 0; }, found);
    return found;
}

/// Adds a sum to a row of y, or writes it there.
template <ValueType Value>
void put(Value* y, Index row, Value sum, bool accumulate) {
    y[row] = accumulate ? y[row] + sum : sum;
}

}  // namespace workbench
