// Layout csc. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "kernels/formats/csc/layout.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"

namespace workbench {

TEST_CASE("csc: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = csc_entry();
    const auto built = entry.build.f64(stage_input(drawn()), {});
    const auto& layout = dynamic_cast<const CscLayout<double>&>(*built);
    CHECK(layout.column_offsets == std::vector<Offset>{0, 2, 4, 7, 8, 10, 13});
    CHECK(layout.row_indices == std::vector<Index>{0, 4, 0, 1, 0, 1, 2, 3, 1, 4, 3, 4, 5});
    CHECK(layout.values == std::vector<double>{1, 10, 2, 4, 3, 5, 7, 8, 6, 11, 9, 12, 13});
    CHECK(built->bytes_to_move() == 7 * 8 + 13 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("csc: two lanes read each column if the mean length is two; its number is not stored") {
    const auto layout = csc_entry().build.f32(stage_input(drawn()), {});
    std::string text;
    layout->for_each_slot([&](const Slot& slot) { CHECK(slot.column_array == -1); });
    for_each_read_of<float>(csc_entry(), "columns", *layout, [&](const Read& read) {
        CHECK(read.warp == 0);
        text += fmt::format("{}:{}/{} ", read.column, read.lane, read.step);
    });
    CHECK(text == "0:0/0 0:1/0 1:2/0 1:3/0 2:4/0 2:4/1 2:5/0 3:6/0 4:8/0 4:9/0 5:10/0 5:10/1 5:11/0 ");
}

TEST_CASE("csc: invalid rows are refused") {
    const auto layout = csc_entry().build.f64(stage_input(drawn()), {});
    auto& csc = dynamic_cast<CscLayout<double>&>(*layout);
    for (const Index row : {-1, 6}) {
        csc.row_indices[3] = row;
        CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
    }
    csc.row_indices[3] = 2;  // row 2 has only one nonzero
    CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
}

}  // namespace workbench
