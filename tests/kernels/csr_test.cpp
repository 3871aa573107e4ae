// Layout csr. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "kernels/csr/layout.hpp"
#include "kernels/reads.hpp"
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

TEST_CASE("csr: two lanes of the CUDA kernel vector read a short row, one of scalar any") {
    const auto text_of = [](const std::string& kernel) {
        std::string text;
        for_each_read_of<double>(csr_entry(), kernel, *build(csr_entry(), stage_input(drawn())), [&](const Read& read) {
            CHECK(read.warp == 0);
            text += fmt::format("{}:{}/{} ", read.row, read.lane, read.step);
        });
        return text;
    };
    CHECK(text_of("vector") == "0:0/0 0:0/1 0:1/0 1:2/0 1:2/1 1:3/0 2:4/0 3:6/0 3:7/0 4:8/0 4:8/1 4:9/0 5:10/0 ");
    CHECK(text_of("scalar") == "0:0/0 0:0/1 0:0/2 1:1/0 1:1/1 1:1/2 2:2/0 3:3/0 3:3/1 4:4/0 4:4/1 4:4/2 5:5/0 ");
}

TEST_CASE("csr: what it needs") {
    const Needs csr = csr_entry().needs({});
    CHECK(csr.unsplit);
    CHECK_FALSE(csr.square);
}
