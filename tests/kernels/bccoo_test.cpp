// Layout bccoo: exact arrays, columns of both widths, block rows without blocks, which lane reads what, and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/bccoo/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Steps = std::vector<std::int16_t>;
using Words = std::vector<std::uint16_t>;

std::unique_ptr<Layout<double>> build_bccoo(const CsrMatrix& matrix, const Given& given = {}) {
    return build(bccoo_entry(), stage_input(matrix), given);
}

const Bccoo<double, HostArray>& as_bccoo(const std::unique_ptr<Layout<double>>& layout) {
    return std::get<0>(dynamic_cast<const BccooLayout<double>&>(*layout).stored);
}

/// The elements of lane `lane` of the first tile in an array whose elements of one lane are 32 apart.
template <typename Element>
std::vector<Element> of_lane(const HostArray<Element>& array, int lane, std::size_t count) {
    std::vector<Element> elements;
    for (std::size_t i = 0; i < count; ++i) elements.push_back(array.at(i * bccoo_lanes + lane));
    return elements;
}

template <typename Element>
bool all_are(const HostArray<Element>& array, std::size_t from, Element element) {
    return std::all_of(array.begin() + static_cast<std::ptrdiff_t>(from), array.end(),
                       [&](Element one) { return one == element; });
}

/// A row with nonzeros 1, 2, ... in these columns, between rows without nonzeros.
CsrMatrix one_row(Index rows, Index row, Index columns, const Indices& places) {
    std::vector<Entry> entries;
    for (const Index column : places) entries.push_back({row, column, 1.0 + static_cast<double>(entries.size())});
    return csr_from_entries(rows, columns, entries);
}

}  // namespace

TEST_CASE("bccoo: the arrays of the 6 x 6 matrix, blocks of 2 x 2") {
    const auto layout = build_bccoo(drawn(), {{"block_height", 2_i}, {"block_width", 2_i}, {"blocks_per_lane", 4_i}});
    const auto& bccoo = as_bccoo(layout);
    CHECK(dynamic_cast<const BccooLayout<double>&>(*layout).block_count == 7);
    CHECK(bccoo.first_block_rows == Indices{0});
    CHECK(bccoo.column_tiles == Indices{0});
    CHECK(Words(bccoo.ends.begin(), bccoo.ends.begin() + 2) == Words{4, 5});
    CHECK(all_are<std::uint16_t>(bccoo.ends, 2, 0));
    CHECK(Indices(bccoo.first_columns.begin(), bccoo.first_columns.begin() + 2) == Indices{0, 2});
    CHECK(all_are<Index>(bccoo.first_columns, 2, 2));
    CHECK(of_lane(bccoo.column_steps, 0, 3) == Steps{1, 1, -1});
    CHECK(of_lane(bccoo.column_steps, 1, 3) == Steps{-2, 2, 0});
    CHECK(of_lane(bccoo.values, 0, 16) == std::vector<double>{1, 2, 0, 4, 3, 0, 5, 0, 0, 0, 6, 0, 7, 0, 0, 8});
    CHECK(of_lane(bccoo.values, 1, 16) == std::vector<double>{0, 0, 0, 9, 10, 0, 0, 0, 11, 12, 0, 13, 0, 0, 0, 0});
    CHECK(of_lane(bccoo.values, 2, 16) == std::vector<double>(16, 0));
    CHECK(bccoo.values.size() == 32 * 4 * 4);
    CHECK(bccoo.wide_columns.empty());
    CHECK(bccoo.block_rows.empty());
    CHECK(bccoo.empty_block_rows.empty());
    CHECK(layout->bytes_to_move() == 32 * (2 + 4 + 3 * 2 + 16 * 8) + 2 * 4 + 8 * (6 + 6));
    CHECK_NOTHROW(check_layout(*layout, drawn()));
}

TEST_CASE("bccoo: blocks of one entry are a coordinate list") {
    const auto layout = build_bccoo(drawn(), {{"blocks_per_lane", 8_i}});
    const auto& bccoo = as_bccoo(layout);
    CHECK(dynamic_cast<const BccooLayout<double>&>(*layout).block_count == 13);
    CHECK(Words(bccoo.ends.begin(), bccoo.ends.begin() + 2) == Words{0b01100100, 0b11001});
    CHECK(Indices(bccoo.first_columns.begin(), bccoo.first_columns.begin() + 3) == Indices{0, 5, 5});
    CHECK(of_lane(bccoo.column_steps, 0, 7) == Steps{1, 1, -1, 1, 2, -2, 1});
    CHECK(of_lane(bccoo.column_steps, 1, 7) == Steps{-5, 4, 1, 0, 0, 0, 0});
    CHECK(of_lane(bccoo.values, 0, 8) == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(of_lane(bccoo.values, 1, 8) == std::vector<double>{9, 10, 11, 12, 13, 0, 0, 0});
}

TEST_CASE("bccoo: columns have 32 bits in tiles with a difference above 16 bits") {
    const Index far = 32767;
    const auto of = [](const Indices& places) { return build_bccoo(one_row(1, 0, 70000, places), {{"blocks_per_lane", 4_i}}); };
    const auto fits = of({0, far, far + 1, 2 * far + 1});
    CHECK(as_bccoo(fits).column_tiles == Indices{0});
    CHECK(of_lane(as_bccoo(fits).column_steps, 0, 3) == Steps{32767, 1, 32767});
    const auto beyond = of({0, far + 1, far + 2, 69999});
    CHECK(as_bccoo(beyond).column_tiles == Indices{-1});
    CHECK(as_bccoo(beyond).column_steps.empty());
    CHECK(of_lane(as_bccoo(beyond).wide_columns, 0, 3) == Indices{far + 1, far + 2, 69999});
    CHECK(of_lane(as_bccoo(beyond).wide_columns, 31, 3) == Indices(3, 69999));

    // 300 blocks are three tiles of 128; differences between lanes are not stored.
    Indices places;
    for (Index i = 0; i < 300; ++i) places.push_back(i < 130 ? i : i + 40000);
    CHECK(as_bccoo(of(places)).column_tiles == Indices{0, -1, 1});
    places.clear();
    for (Index i = 0; i < 300; ++i) places.push_back(i < 132 ? i : i + 40000);
    CHECK(as_bccoo(of(places)).column_tiles == Indices{0, 1, 2});
    const CsrMatrix back = csr_from_entries(2, 70000, std::vector<Entry>{{0, 32768, 1}, {1, 0, 2}});
    CHECK(as_bccoo(build_bccoo(back)).column_tiles == Indices{0});
    const CsrMatrix further_back = csr_from_entries(2, 70000, std::vector<Entry>{{0, 32769, 1}, {1, 0, 2}});
    CHECK(as_bccoo(build_bccoo(further_back)).column_tiles == Indices{-1});
    CHECK(as_bccoo(build_bccoo(back, {{"column_index", std::string("u32")}})).column_tiles == Indices{-1});
    for (const auto* layout : {&fits, &beyond}) {
        Indices columns;
        (*layout)->for_each_slot([&](const Slot& slot) {
            if (slot.nonzero >= 0) columns.push_back(slot.column);
        });
        CHECK(columns.size() == 4);
        CHECK(std::is_sorted(columns.begin(), columns.end()));
    }
}

TEST_CASE("bccoo: block rows without blocks are listed, and a tile stores its first block row") {
    std::vector<Entry> entries;
    for (Index column = 0; column < 300; ++column) entries.push_back({5, column, 1.0});
    entries.push_back({9, 0, 2});
    const CsrMatrix matrix = csr_from_entries(13, 300, entries);
    const auto layout = build_bccoo(matrix, {{"block_height", 2_i}, {"blocks_per_lane", 4_i}});
    const auto& bccoo = as_bccoo(layout);
    CHECK(bccoo.block_rows == Indices{2, 4});
    CHECK(bccoo.empty_block_rows == Indices{0, 1, 3, 5, 6});
    CHECK(bccoo.first_block_rows == Indices{0, 0, 0});
    CHECK_NOTHROW(check_layout(*layout, matrix));
    const auto bits = [&](std::size_t lane) { return bccoo.ends[lane]; };
    CHECK(bits(74) == 0b1000);  // block 299
    CHECK(bits(75) == 0b0001);
    const auto single = build_bccoo(matrix, {{"blocks_per_lane", 16_i}});
    CHECK(as_bccoo(single).first_block_rows == Indices{0});
    CHECK(as_bccoo(build_bccoo(csr_from_entries(3, 4, {}))).empty_block_rows == Indices{0, 1, 2});
    CHECK(as_bccoo(build_bccoo(csr_from_entries(3, 4, {}))).tiles() == 0);

    std::vector<Entry> rows;
    for (Index row = 0; row < 300; ++row) rows.push_back({row, 0, 1.0});
    CHECK(as_bccoo(build_bccoo(csr_from_entries(300, 1, rows), {{"blocks_per_lane", 4_i}})).first_block_rows ==
          Indices{0, 128, 256});
}

TEST_CASE("bccoo: a lane reads consecutive blocks, and adjacent lanes read adjacent values") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 60; ++row) {
        for (Index column = 0; column < 60; ++column) entries.push_back({row, column, 1.0 + column});
    }
    const auto layout =
        build_bccoo(csr_from_entries(60, 60, entries), {{"block_height", 3_i}, {"block_width", 2_i}, {"blocks_per_lane", 8_i}});
    for_each_read_of<double>(bccoo_entry(), "lanes", *layout, [](const Read& read) {
        CHECK(read.warp == read.index / (32 * 8 * 6));
        CHECK(read.lane == read.index % 32);
        CHECK(read.step == read.index / 32 % (8 * 6));
        if (read.row < 0) return;
        const Offset block = (read.warp * 32 + read.lane) * 8 + read.step / 6;
        CHECK(read.row / 3 == block / 30);
        CHECK(read.column / 2 == block % 30);
    });
}

TEST_CASE("bccoo: the default number of blocks per lane is 16 for up to 4 values, 8 for up to 9, otherwise 4") {
    const auto of = [](std::int64_t height, std::int64_t width) {
        const auto layout =
            build_bccoo(drawn(), {{"block_height", height}, {"block_width", width}, {"slots_per_nonzero", 100.0}});
        return as_bccoo(layout).blocks_per_lane;
    };
    CHECK(of(1, 1) == 16);
    CHECK(of(1, 2) == 16);
    CHECK(of(2, 1) == 16);
    CHECK(of(1, 3) == 16);
    CHECK(of(2, 2) == 16);
    CHECK(of(2, 3) == 8);
    CHECK(of(3, 3) == 8);
    CHECK(of(3, 4) == 4);
    CHECK(as_bccoo(build_bccoo(drawn(), {{"blocks_per_lane", 8_i}})).blocks_per_lane == 8);
}

TEST_CASE("bccoo: block sizes without a kernel and too much padding are refused") {
    const LayoutEntry entry = bccoo_entry();
    CHECK(entry.needs(Parameters(entry.parameters, {})).unsplit);
    CHECK(message_of<ParameterError>([&] {
              (void)entry.needs(Parameters(entry.parameters, {{"blocks_per_lane", 6_i}}));
          }) == "a lane has 4, 8 or 16 blocks");
    const auto blocks = [](Index height, Index width) {
        Bccoo<double, HostArray> bccoo;
        bccoo.block_height = height;
        bccoo.block_width = width;
        return bccoo;
    };
    CHECK_THROWS_AS(with_bccoo_block(blocks(5, 1), [](auto, auto) {}), std::logic_error);
    CHECK_THROWS_AS(with_bccoo_block(blocks(1, 5), [](auto, auto) {}), std::logic_error);
    CHECK(message_of<Unsuitable>([] {
              (void)build_bccoo(one_row(4, 0, 8, {0, 4}), {{"block_height", 4_i}, {"block_width", 4_i}});
          }) ==
          "2 blocks of 4 x 4 would have 32 slots for 2 nonzeros: 16 a nonzero, but at most 4 are allowed; smaller blocks "
          "(block_height, "
          "block_width) have fewer, and slots_per_nonzero allows more");
}

TEST_CASE("bccoo: equal values are not stored") {
    const LayoutEntry entry = bccoo_entry();
    const auto host = make_host_device();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CsrMatrix equal = named.matrix;
        std::fill(equal.values.begin(), equal.values.end(), 3.0);
        const auto layout = build(entry, stage_input(equal), {{"values", std::string("auto")}});
        if (equal.nonzeros() > 0)
            CHECK(layout->notes() == std::vector<std::pair<std::string, std::string>>{{"values", "all are 3; none is stored"}});
        CHECK_NOTHROW(check_layout(*layout, equal));
        for (const ScheduleEntry& schedule : entry.schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        std::vector<double> x(equal.columns), y(equal.rows, -1.0);
        for (Index column = 0; column < equal.columns; ++column) x[column] = 1 + column % 5;
        entry.kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
        for (Index row = 0; row < equal.rows; ++row) {
            double expected = 0;
            for (Offset k = equal.row_offsets[row]; k < equal.row_offsets[row + 1]; ++k)
                expected += 3 * x[equal.column_indices[k]];
            CHECK(y[row] == expected);
        }
    }
    CHECK(message_of<ParameterError>([&] {
              (void)entry.needs(Parameters(entry.parameters, {{"values", std::string("one")}, {"block_width", 2_i}}));
          }) == "equal values require blocks of 1 x 1, because larger ones may have padding");
}

}  // namespace workbench
