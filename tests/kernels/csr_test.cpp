// Layout csr. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "kernels/csr/layout.hpp"
#include "support/drawings.hpp"
#include "support/given.hpp"

using namespace workbench;

TEST_CASE("csr: the drawing shows what is built") {
    const LayoutEntry entry = csr_entry();
    CHECK(draws_the_matrix(entry));
    const auto built = build(entry, stage_input(drawn()));
    const auto& layout = dynamic_cast<const CsrLayout<double>&>(*built);
    CHECK(draws(entry, list("row_offsets", layout.row_offsets)));
    CHECK(draws(entry, by_pieces("column_indices", layout.row_offsets, layout.column_indices)));
    CHECK(draws(entry, by_pieces("values", layout.row_offsets, layout.values)));
}

TEST_CASE("csr: the footprint is the arrays") {
    const auto csr = build<float>(csr_entry(), stage_input(drawn()));
    CHECK(csr->bytes_to_move() == 7 * 8 + 13 * (4 + 4) + 4 * (6 + 6));
}

TEST_CASE("csr: the slots are those of the CUDA kernel vector, two lanes a short row") {
    std::string text;
    build(csr_entry(), stage_input(drawn()))->for_each_slot([&](const Slot& slot) {
        CHECK(slot.warp == 0);
        text += fmt::format("{}:{}/{} ", slot.row, slot.lane, slot.step);
    });
    CHECK(text == "0:0/0 0:1/0 0:0/1 1:2/0 1:3/0 1:2/1 2:4/0 3:6/0 3:7/0 4:8/0 4:9/0 4:8/1 5:10/0 ");
}

TEST_CASE("csr: what it needs") {
    const Needs csr = csr_entry().needs({});
    CHECK(csr.unsplit);
    CHECK_FALSE(csr.square);
}
