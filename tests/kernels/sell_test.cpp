// Layout sell: which thread reads which slot, and what is refused. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/reads.hpp"
#include "kernels/sell/layout.hpp"
#include "pipeline/contract/errors.hpp"
#include "support/battery.hpp"
#include "support/drawings.hpp"
#include "support/given.hpp"

using namespace workbench;

namespace {

std::unique_ptr<Layout<double>> build(const CsrMatrix& matrix, std::int64_t slice_height, std::int64_t threads_per_row) {
    return build(sell_entry(), stage_input(matrix), {{"slice_height", slice_height}, {"threads_per_row", threads_per_row}});
}

}  // namespace

TEST_CASE("sell: the drawing shows what is built") {
    const LayoutEntry entry = sell_entry();
    CHECK(draws_the_matrix(entry));
    const auto built = build(entry, stage_input(drawn()), {{"slice_height", 2_i}});
    const auto& slices = dynamic_cast<const SellLayout<double>&>(*built);
    CHECK(draws(entry, list("slice_offsets", slices.slice_offsets)));
    CHECK(draws(entry, first_lanes("values", slices, slices.values, 2)));
    CHECK(draws(entry, first_lanes("columns", slices, slices.column_indices, 2)));
}

TEST_CASE("sell: the footprint is the arrays, padding included") {
    const auto sell = build(sell_entry(), stage_input(drawn()), {{"slice_height", 2_i}});
    CHECK(sell->bytes_to_move() == 4 * 8 + 16 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("sell: the lanes of a warp read neighbouring slots of a slice of height 32") {
    for (const NamedMatrix& named : battery()) {
        const auto layout = build<float>(sell_entry(), stage_input(named.matrix));
        for_each_read_of<float>(sell_entry(), "slices", *layout, [&](const Read& read) {
            CHECK(read.index % 32 == read.lane);
            CHECK(read.row == read.warp * 32 + read.lane);
        });
    }
}

TEST_CASE("sell: with several threads a row, a warp reads neighbouring slots of its slice") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const int threads : {1, 2, 4, 8, 16, 32}) {
            const int rows = 32 / threads;
            const auto layout = build(named.matrix, rows, threads);
            const auto& offsets = dynamic_cast<const SellLayout<double>&>(*layout).slice_offsets;
            for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& read) {
                CHECK(read.index == offsets[read.warp] + read.step * 32 + read.lane);
                CHECK(read.row == read.warp * rows + read.lane % rows);
            });
        }
    }
}

TEST_CASE("sell: threads share a row whatever the slice height") {
    // Row 0 of 5 entries, row 1 of 2, in a slice of 3 rows with 4 threads a row: 8 rows are a warp's.
    std::vector<Entry> entries{{1, 1, 6}, {1, 4, 7}};
    for (Index column = 0; column < 5; ++column) entries.push_back({0, column, 1.0 + column});
    const auto layout = build(csr_from_entries(2, 5, entries), 3, 4);
    std::string text;
    for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& read) {
        text += std::to_string(read.index) + ":" + std::to_string(read.lane) + "/" + std::to_string(read.step) + " ";
    });
    // Slot 3 k + row: the two rows read their steps 0 to 4, the shorter one padding from step 2 on.
    CHECK(text == "0:0/0 12:0/1 1:1/0 13:1/1 3:8/0 4:9/0 6:16/0 7:17/0 9:24/0 10:25/0 ");
}

TEST_CASE("sell: threads a row that are no power of two are refused") {
    const LayoutEntry entry = sell_entry();
    for (const std::int64_t threads : {3, 6, 31}) {
        CHECK_THROWS_AS((void)entry.needs(Parameters(entry.parameters, {{"threads_per_row", threads}})), ParameterError);
    }
    CHECK(entry.needs(Parameters(entry.parameters, {{"threads_per_row", std::int64_t{32}}})).unsplit);
}

TEST_CASE("sell: padding beyond memory is refused with the figure") {
    constexpr Index size = 1 << 20;
    std::vector<Entry> entries;
    for (Index column = 0; column < size; ++column) entries.push_back({7, column, 1});
    const CsrMatrix matrix = csr_from_entries(size, size, entries);
    const std::string message = message_of<Unsuitable>([&] {
        (void)build(sell_entry(), stage_input(matrix), {{"slice_height", 65536_i}});
    });
    CHECK(message.find("slices of height 65536 have 68719476736 slots for 1048576 nonzeros: 824633720832 bytes") == 0);
}
