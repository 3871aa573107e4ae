// The loops of builders and host kernels: each i runs once, and exceptions reach the caller.
#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <vector>

#include "kernels/device/host_loops.hpp"

namespace workbench {

TEST_CASE("a loop over all cores passes each number once, for any chunk size") {
    for (const int chunk : {1, 7, 64}) {
        std::vector<std::atomic<int>> seen(100);
        for_each_in_parallel(100, chunk, [&](std::int64_t i) { ++seen[i]; });
        for (const auto& times : seen) CHECK(times == 1);
    }
    CHECK(count_in_parallel(100, [](std::int64_t i) { return i % 3 == 0; }) == 34);
}

TEST_CASE("an allocation failure in one thread of a loop is rethrown to the caller") {
    const auto run_out = [](std::int64_t i) {
        if (i == 77) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(for_each_in_parallel(100, 1, run_out), std::bad_alloc);
}

}  // namespace workbench
