// Layout csc. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>

#include <set>

#include "kernels/csc/layout.hpp"
#include "support/drawings.hpp"

using namespace workbench;

TEST_CASE("csc: the drawing shows what is built") {
    const LayoutEntry entry = csc_entry();
    const auto built = entry.build.f64(stage_input(drawn()), {});
    const auto& layout = dynamic_cast<const CscLayout<double>&>(*built);
    CHECK(draws_the_matrix(entry));
    CHECK(draws(entry, list("column_offsets", layout.column_offsets)));
    CHECK(draws(entry, by_pieces("row_indices", layout.column_offsets, layout.row_indices)));
    CHECK(draws(entry, by_pieces("values", layout.column_offsets, layout.values)));
    CHECK(built->bytes_to_move() == 7 * 8 + 13 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("csc: one warp reads all slots of a column, whose number is not stored") {
    const auto layout = csc_entry().build.f32(stage_input(drawn()), {});
    std::set<Index> columns;
    Index last = -1;
    layout->for_each_slot([&](const Slot& slot) {
        CHECK(slot.column_array == -1);
        CHECK(slot.warp == slot.column);
        if (slot.column != last) CHECK(columns.insert(slot.column).second);
        last = slot.column;
    });
    CHECK(columns.size() == 6);
}

TEST_CASE("csc: rows that do not exist are not walked") {
    const auto layout = csc_entry().build.f64(stage_input(drawn()), {});
    auto& csc = dynamic_cast<CscLayout<double>&>(*layout);
    for (const Index row : {-1, 6}) {
        csc.row_indices[3] = row;
        CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
    }
    csc.row_indices[3] = 2;  // row 2 has one nonzero only
    CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
}
