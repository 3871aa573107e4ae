// Layout coo and the triplets of a share. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>

#include "kernels/coo/layout.hpp"
#include "support/drawings.hpp"

using namespace workbench;

TEST_CASE("coo: the drawing shows what is built") {
    const LayoutEntry entry = coo_entry();
    const auto built = entry.build.f64(stage_input(drawn()), {});
    const Triplets<double>& triplets = dynamic_cast<const CooLayout<double>&>(*built).triplets;
    CHECK(draws_the_matrix(entry));
    CHECK(draws(entry, list("rows", triplets.rows)));
    CHECK(draws(entry, list("columns", triplets.columns)));
    CHECK(draws(entry, list("values", triplets.values)));
    CHECK(built->bytes_to_move() == 13 * (4 + 4 + 8) + 8 * (6 + 6));
    built->for_each_slot([](const Slot& slot) {
        CHECK(slot.nonzero == slot.index);
        CHECK(slot.lane == slot.index);
        CHECK(slot.step == 0);
    });
}

TEST_CASE("coo: triplets of a share, in the share's order") {
    const CsrMatrix matrix = drawn();
    const Share share{.id = {ShareKind::first}, .rows = {4, 1}, .row_offsets = {0, 2, 3}, .entries = {9, 11, 4}};
    auto triplets = build_triplets<float>(matrix, ShareView(share));
    CHECK(triplets.rows == std::vector<Index>{4, 4, 1});
    CHECK(triplets.columns == std::vector<Index>{0, 5, 2});
    CHECK(triplets.values == std::vector<float>{10, 12, 5});
    std::vector<Offset> nonzeros;
    const TripletFrame frame{.value_array = 2, .column_array = 1, .first_warp = 3};
    for_each_slot(triplets, frame, [&](const Slot& slot) {
        nonzeros.push_back(slot.nonzero);
        CHECK(slot.warp == 3);
    });
    CHECK(nonzeros == std::vector<Offset>{9, 11, 4});
    triplets.rows.pop_back();
    CHECK_THROWS_AS(for_each_slot(triplets, frame, [](const Slot&) {}), std::logic_error);
}
