// The loops of builders and host kernels: each i runs once, and exceptions reach the caller.
#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <vector>

#include "kernels/device/host_loops.hpp"
#include "kernels/formats/dia/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "support/given.hpp"

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

TEST_CASE("a product over several pieces of y writes nothing before y") {
    constexpr Index rows = 2500;
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) entries.push_back({row, row, row + 1.0});
    const auto layout = build(dia_entry(), stage_input(csr_from_entries(rows, rows, entries)));
    const auto host = make_host_device();
    const std::vector<double> x(rows, 2);
    std::vector<double> y(2 * rows, -1);
    dia_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data() + rows, false);
    for (Index row = 0; row < rows; ++row) {
        REQUIRE(y[row] == -1);
        REQUIRE(y[rows + row] == 2 * (row + 1.0));
    }
}

}  // namespace workbench
