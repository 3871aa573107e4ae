// HBP: exact arrays, the drawing, rows without entries, bytes, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/common/host_device.hpp"
#include "kernels/hbp/layout.hpp"
#include "kernels/lane_steps.hpp"
#include "pipeline/contract/errors.hpp"
#include "stages/stages.hpp"
#include "support/drawings.hpp"
#include "support/given.hpp"

using namespace workbench;

namespace {

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;
using Bytes = std::vector<std::uint8_t>;
using Masks = std::vector<std::uint32_t>;

StagedMatrix in_tiles(CsrMatrix matrix, std::int64_t height, std::int64_t width) {
    StagedMatrix staged = stage_input(std::move(matrix));
    pass(staged, row_blocks_stage(), {{"height", height}});
    pass(staged, column_segmentation_stage(), {{"width", width}});
    return staged;
}

StagedMatrix hashed(StagedMatrix staged) {
    pass(staged, nonlinear_hash_stage(), {{"within", std::string("tile")}});
    return staged;
}

template <ValueType Value = double>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Given& given = {}) {
    return build<Value>(hbp_entry(), staged, given);
}

const HbpLayout<double>& as_hbp(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const HbpLayout<double>&>(*layout);
}

/// Row i has i % 7 nonzeros, so that some have none.
CsrMatrix ragged(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < row % 7; ++k) entries.push_back({row, (row * 3 + k * 5) % columns, 1.0 + row + 0.5 * k});
    }
    return csr_from_entries(rows, columns, entries);
}

std::vector<double> product(const LayoutEntry& entry, const Layout<double>& layout, Index rows, Index columns) {
    const std::unique_ptr<Device> host = make_host_device();
    std::vector<double> x;
    for (Index i = 0; i < columns; ++i) x.push_back(i + 1);
    std::vector<double> y(rows, -1);
    entry.kernels.front().prepare.f64(layout, *host)->run(x.data(), y.data(), false);
    return y;
}

/// With bars between the steps of a batch, as the drawing has them.
template <typename Element>
std::string by_steps(const std::string& name, const HbpLayout<double>& layout, const std::vector<Element>& array) {
    std::vector<std::pair<std::int64_t, std::int64_t>> places;  // tile and step of each entry
    layout.for_each_slot([&](const Slot& slot) { places.emplace_back(slot.warp, slot.step); });
    std::ostringstream line;
    line << name;
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (i > 0 && places[i].first == places[i - 1].first && places[i].second != places[i - 1].second) line << " |";
        line << ' ' << +array[i];
    }
    return line.str();
}

}  // namespace

TEST_CASE("hbp: the arrays of the drawing") {
    const auto layout = build(hashed(in_tiles(drawn(), 3, 3)));
    const HbpLayout<double>& hbp = as_hbp(layout);
    CHECK(hbp.tile_batches == Indices{0, 1, 2, 3, 4});
    CHECK(hbp.tile_columns == Indices{0, 3, 0, 3});
    CHECK(hbp.begin_ptr == Offsets{0, 6, 7, 8, 13});
    CHECK(hbp.batch_rows == Indices{0, 3, 4, 5, 8});
    CHECK(hbp.zero_row == Masks{0xfffffff8, 0xfffffffe, 0xfffffffe, 0xfffffff8});
    CHECK(std::get<Indices>(hbp.column_indices) == Indices{2, 1, 0, 2, 1, 2, 1, 0, 2, 0, 1, 2, 2});
    CHECK(hbp.data == std::vector<double>{7, 4, 1, 5, 2, 3, 6, 10, 13, 8, 11, 9, 12});
    CHECK(hbp.add_sign == Bytes{0, 2, 2, 0, 1, 0, 0, 0, 0, 2, 2, 0, 0});
    CHECK(hbp.output_order == Indices{3, 1, 0, 2, 5, 7, 4, 6});
    CHECK(hbp.result_offsets == Indices{0, 1, 3, 4, 5, 7, 8});
    CHECK_NOTHROW(check_layout(*layout, drawn()));

    const LayoutEntry entry = hbp_entry();
    CHECK(draws(entry, by_steps("data", hbp, hbp.data)));
    CHECK(draws(entry, by_steps("columns", hbp, std::get<Indices>(hbp.column_indices))));
    CHECK(draws(entry, by_steps("add_sign", hbp, hbp.add_sign)));
    CHECK(draws(entry, "zero_row fffffff8 fffffffe fffffffe fffffff8"));
    CHECK(draws(entry, list("output_order", hbp.output_order)));
    CHECK(draws(entry, list("tile_batches", hbp.tile_batches)));
    CHECK(draws(entry, list("tile_columns", hbp.tile_columns)));
    CHECK(draws(entry, list("begin_ptr", hbp.begin_ptr)));
    CHECK(draws(entry, list("batch_rows", hbp.batch_rows)));
    CHECK(draws(entry, list("result_offsets", hbp.result_offsets)));
    CHECK(draws(entry, "stored rows 2 1 0 1 4 5 3 4"));
}

TEST_CASE("hbp: entries lie step by step, lanes ascending, in batches of 32 rows") {
    const CsrMatrix matrix = ragged(100, 60);
    const StagedMatrix staged = hashed(in_tiles(matrix, 80, 60));
    const auto layout = build(staged);
    CHECK(as_hbp(layout).batch_rows == Indices{0, 32, 64, 68, 85});  // 68 and 17 rows that are not empty
    CHECK_NOTHROW(check_layout(*layout, matrix));
    Slot before;
    layout->for_each_slot([&](const Slot& slot) {
        if (slot.index > 0 && slot.step >= before.step) {
            CHECK((slot.warp != before.warp || slot.step > before.step || slot.lane > before.lane));
        } else if (slot.index > 0) {
            const auto& begins = as_hbp(layout).begin_ptr;
            CHECK(std::find(begins.begin(), begins.end(), slot.index) != begins.end());
        }
        before = slot;
    });
}

TEST_CASE("hbp: four batches of a tile take turns, then the next four") {
    const CsrMatrix matrix = ragged(200, 60);
    const auto layout = build(in_tiles(matrix, 200, 60));
    const Indices& batch_rows = as_hbp(layout).batch_rows;
    const Offsets& begins = as_hbp(layout).begin_ptr;
    REQUIRE(batch_rows.size() > 5);
    check_lane_steps(*layout);
    std::int64_t end_of_first_four = 0;
    layout->for_each_slot([&](const Slot& slot) {
        const auto batch = std::upper_bound(begins.begin(), begins.end(), slot.index) - begins.begin() - 1;
        const std::int64_t entry = slot.nonzero - matrix.row_offsets[slot.row];
        if (batch < 4) {
            CHECK(slot.step == 4 * entry + batch);
            end_of_first_four = std::max(end_of_first_four, slot.step + 1);
        } else {
            CHECK(slot.step == end_of_first_four + 4 * entry + batch - 4);
        }
    });
}

TEST_CASE("hbp: rows that a share lists without entries are marked, and their result is 0") {
    const CsrMatrix matrix = csr_from_entries(4, 3, std::vector<Entry>{{0, 0, 2}, {2, 0, 3}, {2, 1, 4}, {2, 2, 5}});
    StagedMatrix staged = stage_input(matrix);
    staged.cuts = {{CutKind::row_block, {0, 4}}, {CutKind::segment, {0, 2, 3}}};
    staged.shares = {Share{{ShareKind::tile, 0, 0}, {3, 2, 1, 0}, {0, 0, 2, 2, 3}, {1, 2, 0}},
                     Share{{ShareKind::tile, 0, 1}, {2, 0}, {0, 1, 1}, {3}}};
    CHECK_NOTHROW(check_invariants(staged, matrix));
    const auto layout = build(staged);
    const HbpLayout<double>& hbp = as_hbp(layout);
    CHECK(hbp.zero_row == Masks{0xfffffff5, 0xfffffffe});
    CHECK(hbp.data == std::vector<double>{3, 2, 4, 5});
    CHECK(hbp.add_sign == Bytes{2, 0, 0, 0});
    CHECK_NOTHROW(check_layout(*layout, matrix));
    CHECK(product(hbp_entry(), *layout, 4, 3) == std::vector<double>{2, 0, 3 + 8 + 15, 0});
}

TEST_CASE("hbp: columns of 16 bits up to the last that they reach") {
    constexpr Index columns = 65536;
    const CsrMatrix fits = csr_from_entries(1, columns, std::vector<Entry>{{0, columns - 1, 1}});
    CHECK_NOTHROW(check_layout(*build(in_tiles(fits, 1, columns), {{"column_index", std::string("u16")}}), fits));
    const StagedMatrix wide = in_tiles(csr_from_entries(1, columns + 1, std::vector<Entry>{{0, columns, 1}}), 1, columns + 1);
    CHECK_NOTHROW((void)build(wide));
    CHECK(message_of<Unsuitable>([&] {
              (void)build(wide, {{"column_index", std::string("u16")}});
          }) ==
          "segment 0 has 65537 columns, but columns of 16 bits reach 65536: make segments narrower, or set column_index = "
          "\"u32\"");
}

TEST_CASE("hbp: shares that are not the nonzeros of a tile are a mistake of the program") {
    StagedMatrix staged = in_tiles(drawn(), 3, 3);
    SUBCASE("a share that reaches into another segment") { staged.cuts[1].boundaries = {0, 2, 6}; }
    SUBCASE("a row that is torn apart") {
        staged = in_tiles(drawn(), 3, 6);
        staged.shares.push_back(Share{{ShareKind::tile, 0, 0}, {0}, {0, 1}, {1}});
        staged.shares[0] = Share{{ShareKind::tile, 0, 0}, {0, 1, 2}, {0, 2, 5, 6}, {0, 2, 3, 4, 5, 6}};
        CHECK_THROWS_AS(check_invariants(staged, drawn()), std::logic_error);
    }
    CHECK_THROWS_AS((void)build(staged), std::logic_error);
}

TEST_CASE("hbp: bytes count every tile result twice") {
    const auto layout = build(hashed(in_tiles(drawn(), 3, 3)));
    const std::int64_t arrays = 5 * 4 + 4 * 4 + 5 * 8 + 5 * 4 + 4 * 4 + 13 * (4 + 8 + 1) + 8 * 4 + 7 * 4;
    CHECK(layout->bytes_to_move() == arrays + 8 * (6 + 6));
    CHECK(as_hbp(layout).bytes_of_product() == arrays + 8 * (6 + 6) + 2 * 8 * 8);
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(hbp_entry().kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() == as_hbp(layout).bytes_of_product());
}

TEST_CASE("hbp: what it needs, and the share of the tiles that is dealt") {
    const Needs needs = hbp_entry().needs({});
    CHECK(needs.cuts == std::vector<CutKind>{CutKind::row_block, CutKind::segment});
    CHECK(needs.shares == std::vector<ShareChoice>{{ShareKind::tile}});
    const StagedMatrix staged = in_tiles(drawn(), 3, 3);
    CHECK(as_hbp(build(staged)).fixed_tiles == 2);
    CHECK(as_hbp(build(staged, {{"fixed_share", 0.0}})).fixed_tiles == 0);
    CHECK(as_hbp(build(staged, {{"fixed_share", 1.0}})).fixed_tiles == 4);
}
