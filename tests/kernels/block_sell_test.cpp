// Layout block_sell: its arrays, which thread reads what, and refusals. kernels_test.cpp checks what all layouts have in
// common.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

const BlockSell<double, HostArray>& as_block_sell(const std::unique_ptr<Layout<double>>& layout) {
    return std::get<0>(dynamic_cast<const BlockSellLayout<double>&>(*layout).stored);
}

/// The first lanes of the given groups of 32; the other lanes have no rows.
template <typename Element>
std::vector<Element> lanes_of(const HostArray<Element>& array, int lanes, std::size_t first, std::size_t groups) {
    std::vector<Element> all;
    for (std::size_t group = first; group < first + groups; ++group) {
        for (int lane = 0; lane < lanes; ++lane) all.push_back(array[group * 32 + lane]);
    }
    return all;
}

}  // namespace

TEST_CASE("block_sell: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = block_sell_entry();
    const auto built = build(entry, stage_input(drawn(), 2));
    const auto& sell = as_block_sell(built);
    CHECK(sell.block_size == 2);
    CHECK(sell.threads_per_row == 1);
    CHECK(sell.slice_offsets == std::vector<Offset>{0, 96});
    CHECK(sell.first_columns == std::vector<Index>{0});
    CHECK(lanes_of(sell.column_indices, 3, 0, 3) == std::vector<std::uint16_t>{0, 1, 0, 1, 2, 2, 2, 2, 2});
    CHECK(lanes_of(sell.values, 3, 0, 12) == std::vector<double>{1, 7, 10, 2, 0, 0,  0, 0, 0, 4, 8, 0,    // block 0
                                                                 3, 0, 11, 0, 0, 12, 5, 0, 0, 0, 9, 13,   // block 1
                                                                 0, 0, 0,  0, 0, 0,  6, 0, 0, 0, 0, 0});  // block 2
    CHECK(built->bytes_to_move() == 2 * 8 + 4 + 96 * (2 + 4 * 8) + 8 * (6 + 6));
    CHECK(built->notes() == std::vector<std::pair<std::string, std::string>>{{"slices with columns of 32 bits", "0 of 1"}});
}

TEST_CASE("block_sell: columns are relative to the first of their slice, in 32 bits if 16 are too few") {
    // 64 rows in blocks of 2 x 2, 32 per slice. The second slice spans 65537 block columns, the first one 65536.
    std::vector<Entry> entries{{0, 2 * 70000, 1}, {1, 2 * (70000 + 65535) + 1, 2}, {64, 3, 3}, {127, 2 * (1 + 65536), 4}};
    const CsrMatrix matrix = csr_from_entries(128, 280000, entries);
    const auto layout = build(block_sell_entry(), stage_input(matrix),
                              {{"block_size", 2_i}, {"threads_per_row", 1_i}, {"slots_per_nonzero", 1e6}});
    const auto& sell = as_block_sell(layout);
    CHECK(sell.first_columns == std::vector<Index>{70000, -1});
    CHECK(sell.wide_offsets == std::vector<Offset>{0});
    CHECK(sell.high_columns.size() == 32);
    CHECK(sell.high_columns[31] == 1);
    CHECK(sell.column_indices[64 + 31] == 1);
    CHECK_NOTHROW(check_layout(*layout, matrix));
    for (const ScheduleEntry& schedule : block_sell_entry().schedules)
        CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
    std::vector<double> x(280000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 1013);
    const auto host = make_host_device();
    std::vector<double> y(128, 5);
    block_sell_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
    CHECK(y[0] == x[140000]);
    CHECK(y[1] == 2 * x[2 * (70000 + 65535) + 1]);
    CHECK(y[2] == 0);
    CHECK(y[64] == 3 * x[3]);
    CHECK(y[127] == 4 * x[131074]);
}

TEST_CASE("block_sell: the threads per row follow from the blocks per row, and a warp reads adjacent values") {
    for (const auto& [blocks, threads] : std::vector<std::pair<Index, Index>>{{8, 1}, {9, 2}, {20, 2}, {21, 4}}) {
        std::vector<Entry> entries;
        for (Index row = 0; row < 96; ++row) {
            for (Index k = 0; k < blocks * 3; ++k) entries.push_back({row, k, 1.0 + (row + k) % 5});
        }
        const auto layout = build(block_sell_entry(), stage_input(csr_from_entries(96, 96, entries), 3));
        const auto& sell = as_block_sell(layout);
        CHECK(sell.threads_per_row == threads);
        CHECK(sell.slice_height == 32 / threads);
        for_each_read_of<double>(block_sell_entry(), "warps", *layout, [&, threads = threads](const Read& read) {
            const int height = 32 / threads;
            const Offset of_lane = read.index - sell.slice_offsets[read.warp] * 9;
            CHECK(of_lane % height == read.lane % height);
            CHECK(of_lane / (9 * height) % threads == read.lane / height);
        });
    }
}

TEST_CASE("block_sell: a code of 16 bits stands for the values of a block") {
    // Node rows of 2 x 2 blocks: A B / - A, where the second A is preceded by padding of the slice's other lanes alone.
    const std::vector<Entry> entries{{0, 0, 1}, {0, 1, 2}, {1, 1, 3}, {0, 2, 4}, {1, 3, -0.0}, {2, 2, 1}, {2, 3, 2}, {3, 3, 3}};
    const CsrMatrix matrix = csr_from_entries(4, 4, entries);
    const auto layout = build(block_sell_entry(), stage_input(matrix, 2), {{"values", std::string("auto")}});
    const auto& sell = std::get<1>(dynamic_cast<const BlockSellLayout<double>&>(*layout).stored);
    CHECK(sell.threads_per_row == 1);
    CHECK(sell.values.values_of_code == 4);
    // The zeros of padding, then by ascending bits.
    CHECK(sell.values.dictionary == std::vector<double>{0, 0, 0, 0, 1, 2, 0, 3, 4, 0, 0, -0.0});
    CHECK(lanes_of(sell.values.codes, 3, 0, 2) == std::vector<std::uint16_t>{1, 1, 0, 2, 0, 0});
    CHECK(lanes_of(sell.column_indices, 3, 0, 2) == std::vector<std::uint16_t>{0, 1, 0, 1, 1, 0});
    CHECK(layout->bytes_to_move() == 2 * 8 + 4 + 64 * (2 + 2) + 12 * 8 + 8 * (4 + 4));
    CHECK(layout->notes().back() ==
          std::pair<std::string, std::string>{"values", "3 blocks in the dictionary, in codes of 16 bits"});
    const LayoutField values = layout->fields().at(array_number(sell, sell.values.codes));
    CHECK(values.slots() == 64 * 4);
    CHECK(value_at(values, 3) == 3);
    CHECK(std::signbit(value_at(values, 32 * 4 + 3)));
    CHECK_THROWS_AS((void)value_at(values, 64 * 4), std::logic_error);
    CHECK_NOTHROW(check_layout(*layout, matrix));
    CHECK_NOTHROW(check_schedule(*layout, block_sell_entry().schedules.front().walk.f64));
}

TEST_CASE("block_sell: auto takes codes where the blocks of nodes are few, and one thread has a row") {
    const LayoutEntry entry = block_sell_entry();
    const auto choice = [&](const CsrMatrix& matrix, Index node_size, Given given) {
        given.emplace("values", std::string("auto"));
        return entry.settled(Parameters(entry.parameters, given), matrix, Precision::f64, node_size).text("values");
    };
    const CsrMatrix few = drawn();
    CHECK(choice(few, 2, {}) == "dictionary");
    CHECK(choice(few, 1, {}) == "full");
    CHECK(choice(few, 2, {{"block_size", 2_i}}) == "dictionary");
    CHECK(choice(few, 2, {{"block_size", 3_i}}) == "full");
    CHECK(choice(few, 2, {{"threads_per_row", 1_i}}) == "dictionary");
    CHECK(choice(few, 2, {{"threads_per_row", 4_i}}) == "full");
    const auto blocks = [](Index count) {
        std::vector<Entry> entries;
        for (Index i = 0; i < count; ++i) entries.push_back({2 * i, 2 * i + 1, 1.0 + i});
        return csr_from_entries(2 * count, 2 * count, entries);
    };
    CHECK(choice(blocks(4095), 2, {}) == "dictionary");
    CHECK(choice(blocks(4096), 2, {}) == "full");
    CHECK(message_of<Unsuitable>([&] {
              (void)build(entry, stage_input(blocks(4096), 2), {{"values", std::string("dictionary")}});
          }) == "values = \"dictionary\" requires at most 4095 distinct blocks of 2 x 2, and there are more");
    CHECK(message_of<Unsuitable>([&] {
              (void)build(entry, stage_input(few, 1), {{"values", std::string("dictionary")}});
          }) == "values = \"dictionary\" codes blocks, but these have one value; sell has a dictionary of values");
    CHECK(
        message_of<ParameterError>([&] {
            (void)entry.needs(Parameters(entry.parameters, {{"values", std::string("dictionary")}, {"threads_per_row", 2_i}}));
        }) == "found 2; with values = \"dictionary\" a row of blocks has one thread");
}

TEST_CASE("block_sell: sizes without a kernel are refused") {
    const LayoutEntry entry = block_sell_entry();
    CHECK(message_of<Unsuitable>([] { (void)build(block_sell_entry(), stage_input(csr_from_entries(5, 5, {}), 5)); }) ==
          "nodes of 5 unknowns, but there are blocks of 1, 2, 3, 4 or 6: set block_size to one of them");
    CHECK_THROWS_AS((void)entry.needs(Parameters(entry.parameters, {{"block_size", 5_i}})), ParameterError);
    CHECK_THROWS_AS((void)entry.needs(Parameters(entry.parameters, {{"threads_per_row", 3_i}})), ParameterError);
}

}  // namespace workbench
