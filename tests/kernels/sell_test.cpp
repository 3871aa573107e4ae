// Layout sell: which thread reads which slot, and what is refused. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/reads.hpp"
#include "kernels/sell/blocks.hpp"
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

/// "unit: units x warps, steps first + count, part".
std::vector<std::string> texts(const std::vector<SellBlock>& blocks) {
    std::vector<std::string> all;
    for (const SellBlock& block : blocks) {
        all.push_back(fmt::format("{}: {} x {}", block.first_unit, block.units, block.warps));
        if (block.part >= 0) {
            all.back() += fmt::format(", steps {} + {}, part {}", block.first_step, block.steps, block.part);
        }
    }
    return all;
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
            CHECK(read.row % 32 == read.lane);
        });
    }
}

TEST_CASE("sell: long rows get more warps of their block, longer ones blocks of their own") {
    // 300 rows of 5: units 0 to 9, the last of 12 rows. Row 40 has 33, row 290 has 100 and 70 are too many for a block.
    std::vector<Offset> lengths(300, 5);
    lengths[40] = 33;
    lengths[290] = 100;
    const SellBlocks blocks = share_out(lengths, 70, 32);
    CHECK(blocks.unit_steps == std::vector<Index>{5, 33, 5, 5, 5, 5, 5, 5, 5, 100});
    CHECK(texts(blocks.blocks) == std::vector<std::string>{"9: 1 x 8, steps 0 + 70, part 0", "9: 1 x 8, steps 70 + 30, part 1",
                                                           "0: 4 x 2", "4: 4 x 2", "8: 1 x 1"});
    REQUIRE(blocks.parts.size() == 1);
    CHECK(blocks.parts[0].unit == 9);
    CHECK(blocks.parts[0].first == 0);
    CHECK(blocks.parts[0].count == 2);
    CHECK(blocks.part_count() == 2);
    // All eight warps where even they take more than they should; a unit that has several blocks parts its neighbours.
    CHECK(texts(share_out({500}, 600, 32).blocks) == std::vector<std::string>{"0: 1 x 8"});
    lengths.assign(96, 1);
    lengths[32] = 71;
    CHECK(texts(share_out(lengths, 70, 32).blocks).back() == "2: 1 x 1");
    CHECK(share_out({}, 70, 32).blocks.empty());
    CHECK(share_out({0, 0}, 70, 32).blocks.size() == 1);  // y is written there, too
}

TEST_CASE("sell: the longest units come first, and their parts are neighbours") {
    std::vector<Offset> lengths(96, 10);
    lengths[0] = 40;
    lengths[64] = 90;
    const SellBlocks blocks = share_out(lengths, 32, 32);
    CHECK(texts(blocks.blocks) == std::vector<std::string>{"2: 1 x 8, steps 0 + 32, part 0", "2: 1 x 8, steps 32 + 32, part 1",
                                                           "2: 1 x 8, steps 64 + 26, part 2", "0: 1 x 8, steps 0 + 32, part 3",
                                                           "0: 1 x 8, steps 32 + 8, part 4", "1: 1 x 1"});
    REQUIRE(blocks.parts.size() == 2);
    CHECK(blocks.parts[1].unit == 0);
    CHECK(blocks.parts[1].first == 3);
    CHECK(blocks.parts[1].count == 2);
}

TEST_CASE("sell: padding beyond the longest row of 32 is neither read nor counted") {
    // One slice of 64 rows: the first 32 have one nonzero, row 32 has 3, the others none.
    std::vector<Entry> entries;
    for (Index row = 0; row < 32; ++row) entries.push_back({row, row, 1});
    for (Index column = 0; column < 3; ++column) entries.push_back({32, column, 2});
    const auto layout = build(sell_entry(), stage_input(csr_from_entries(64, 64, entries)), {{"slice_height", 64_i}});
    const auto& sell = dynamic_cast<const SellLayout<double>&>(*layout);
    CHECK(sell.values.size() == 3 * 64);
    std::set<Offset> read;
    for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& one) { read.insert(one.index); });
    CHECK(read.size() == 32 + 3 * 32);
    const SellBlocks blocks = share_out(sell.row_lengths(), sell.split_steps, steps_of_sell_warp);
    // 64 slots unread; two steps and one block beside the layout.
    CHECK(sell.bytes_in_blocks(blocks) == sell.bytes_to_move() - 64 * (8 + 4) + 2 * 4 + 24);
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
