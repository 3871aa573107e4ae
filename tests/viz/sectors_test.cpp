// The sectors that a warp reads in a step.
#include <doctest/doctest.h>

#include <vector>

#include "viz/storage_map.hpp"

namespace workbench {

TEST_CASE("sectors of values and of x have 32 bytes: 4 elements in f64, 8 in f32") {
    WarpReads warp{.warp = 0, .steps = 2, .reads = std::vector<LaneRead>(64)};
    // Step 0: lanes 0 to 15 read 16 neighbours of array 2, and columns 8 to 23. Step 1: two arrays, and one column of x.
    for (int lane = 0; lane < 16; ++lane) {
        warp.reads[lane] = {.array = 2, .index = 32 + lane, .row = lane, .column = 8 + lane};
        warp.reads[32 + lane] = {.array = lane % 2, .index = 3, .row = lane, .column = lane == 0 ? 7 : -1};
    }
    CHECK(sectors_of(warp, 0, 8).values == 4);
    CHECK(sectors_of(warp, 0, 8).x == 4);
    CHECK(sectors_of(warp, 0, 4).values == 2);
    CHECK(sectors_of(warp, 0, 4).x == 2);
    CHECK(sectors_of(warp, 1, 8).values == 2);
    CHECK(sectors_of(warp, 1, 8).x == 1);
    warp.reads[1].column = 1000;
    CHECK(sectors_of(warp, 0, 4).x == 3);
    warp.reads.assign(64, LaneRead{});
    CHECK(sectors_of(warp, 0, 8).values == 0);
    CHECK(sectors_of(warp, 0, 8).x == 0);
}

}  // namespace workbench
