// The number of lanes per row, and the instance that is compiled for it. The tests of csr, csr16 and csc check which slots the
// lanes read.
#include <doctest/doctest.h>

#include <initializer_list>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/run.hpp"

namespace workbench {

TEST_CASE("lanes: two entries per lane on average, at most a warp") {
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

TEST_CASE("lanes: each number calls the instance that is compiled for it") {
    const auto same = [](auto known) { return known.value; };
    for (const int lanes : {1, 2, 4, 8, 16, 32}) CHECK(with_lanes<1>(lanes, same) == lanes);
    for (const int lanes : {2, 4, 8, 16, 32}) CHECK(with_lanes<2>(lanes, same) == lanes);
}

}  // namespace workbench
