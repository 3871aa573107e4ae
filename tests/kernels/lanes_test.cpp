// How many lanes share a row, and what is compiled for them. Which slots they read: the tests of csr, csr16 and csc.
#include <doctest/doctest.h>

#include <initializer_list>

#include "kernels/common/schedule/run.hpp"

using namespace workbench;

TEST_CASE("lanes: at most two entries each, up to a warp") {
    CHECK(lanes_for(1, 0) == 1);
    CHECK(lanes_for(1, 2) == 1);
    CHECK(lanes_for(1, 3) == 2);
    CHECK(lanes_for(1, 9) == 8);
    CHECK(lanes_for(1, 1000) == 32);
    CHECK(lanes_for(100, 400) == 2);
    CHECK(lanes_for(100, 401) == 4);
    CHECK(lanes_for(0, 0) == 1);
    CHECK(lanes_for(1, 2, 2) == 2);
    CHECK(lanes_for(1, 9, 2) == 8);
}

TEST_CASE("lanes: each number calls what is compiled for it") {
    const auto same = [](auto known) { return known.value; };
    for (const int lanes : {1, 2, 4, 8, 16, 32}) CHECK(with_lanes<1>(lanes, same) == lanes);
    for (const int lanes : {2, 4, 8, 16, 32}) CHECK(with_lanes<2>(lanes, same) == lanes);
}
