// Layout coo and the triplets of a share. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include "kernels/formats/coo/layout.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {

TEST_CASE("coo: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = coo_entry();
    const auto built = build(entry, stage_input(drawn()));
    const auto& triplets = std::get<Coo<double, HostArray>>(dynamic_cast<const CooLayout<double>&>(*built).stored);
    CHECK(triplets.row_indices == std::vector<Index>{0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5});
    CHECK(triplets.column_indices == std::vector<Index>{0, 1, 2, 1, 2, 4, 2, 3, 5, 0, 4, 5, 5});
    CHECK(triplets.values == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    CHECK(built->bytes_to_move() == 13 * (4 + 4 + 8) + 8 * (6 + 6));
    built->for_each_slot([](const Slot& slot) { CHECK(slot.nonzero == slot.index); });
    for_each_read_of<double>(entry, "segmented", *built, [](const Read& read) {
        CHECK(read.lane == read.index);
        CHECK(read.step == 0);
    });
}

TEST_CASE("coo: triplets of a share, in the share's order") {
    const CsrMatrix matrix = drawn();
    const Share share{.id = {ShareKind::first}, .rows = {4, 1}, .row_offsets = {0, 2, 3}, .entries = {9, 11, 4}};
    const auto triplets = build_triplets<float>(matrix, ShareView(share));
    CHECK(triplets.row_indices == std::vector<Index>{4, 4, 1});
    CHECK(triplets.column_indices == std::vector<Index>{0, 5, 2});
    CHECK(triplets.values == std::vector<float>{10, 12, 5});
    CHECK(entries_of(ShareView(share)) == std::vector<Offset>{9, 11, 4});
}

TEST_CASE("coo: inconsistent arrays are refused") {
    const auto layout = build(coo_entry(), stage_input(drawn()));
    std::get<Coo<double, HostArray>>(dynamic_cast<CooLayout<double>&>(*layout).stored).row_indices.pop_back();
    CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
}

}  // namespace workbench
