// HBP: exact arrays, the drawing, rows without entries, bytes, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/common/device/host_device.hpp"
#include "kernels/hbp/layout.hpp"
#include "kernels/reads.hpp"
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

using WideHbp = Hbp<double, Index, HostArray>;

const HbpLayout<double>& hbp_layout(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const HbpLayout<double>&>(*layout);
}

const WideHbp& as_hbp(const std::unique_ptr<Layout<double>>& layout) { return std::get<WideHbp>(hbp_layout(layout).stored); }

/// Who reads each entry. [nonzeros]
std::vector<Read> readers(const Layout<double>& layout) {
    std::vector<Read> of_entry(layout.nonzeros());
    for_each_read_of<double>(hbp_entry(), "fixed", layout, [&](const Read& read) { of_entry[read.index] = read; });
    return of_entry;
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
std::string by_steps(const std::string& name, const Layout<double>& layout, const std::vector<Element>& array) {
    const std::vector<Read> places = readers(layout);
    std::ostringstream line;
    line << name;
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (i > 0 && places[i].warp == places[i - 1].warp && places[i].step != places[i - 1].step) line << " |";
        line << ' ' << +array[i];
    }
    return line.str();
}

}  // namespace

TEST_CASE("hbp: the arrays of the drawing") {
    const auto layout = build(hashed(in_tiles(drawn(), 3, 3)));
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.tile_batches == Indices{0, 1, 2, 3, 4});
    CHECK(hbp.tile_columns == Indices{0, 3, 0, 3});
    CHECK(hbp.begin_ptr == Offsets{0, 6, 7, 8, 13});
    CHECK(hbp.batch_rows == Indices{0, 3, 4, 5, 8});
    CHECK(hbp.zero_row == Masks{0xfffffff8, 0xfffffffe, 0xfffffffe, 0xfffffff8});
    CHECK(hbp.column_indices == Indices{2, 1, 0, 2, 1, 2, 1, 0, 2, 0, 1, 2, 2});
    CHECK(hbp.data == std::vector<double>{7, 4, 1, 5, 2, 3, 6, 10, 13, 8, 11, 9, 12});
    CHECK(hbp.add_sign == Bytes{0, 2, 2, 0, 1, 0, 0, 0, 0, 2, 2, 0, 0});
    CHECK(hbp.output_order == Indices{3, 1, 0, 2, 5, 7, 4, 6});
    CHECK(hbp.result_offsets == Indices{0, 1, 3, 4, 5, 7, 8});
    CHECK_NOTHROW(check_layout(*layout, drawn()));

    const LayoutEntry entry = hbp_entry();
    CHECK(draws(entry, by_steps("data", *layout, hbp.data)));
    CHECK(draws(entry, by_steps("columns", *layout, hbp.column_indices)));
    CHECK(draws(entry, by_steps("add_sign", *layout, hbp.add_sign)));
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
    Read before;
    for (const Read& read : readers(*layout)) {
        if (read.index > 0 && read.step >= before.step) {
            CHECK((read.warp != before.warp || read.step > before.step || read.lane > before.lane));
        } else if (read.index > 0) {
            const auto& begins = as_hbp(layout).begin_ptr;
            CHECK(std::find(begins.begin(), begins.end(), read.index) != begins.end());
        }
        before = read;
    }
}

TEST_CASE("hbp: four batches of a tile take turns, then the next four") {
    const CsrMatrix matrix = ragged(200, 60);
    const auto layout = build(in_tiles(matrix, 200, 60));
    const Indices& batch_rows = as_hbp(layout).batch_rows;
    const Offsets& begins = as_hbp(layout).begin_ptr;
    REQUIRE(batch_rows.size() > 5);
    std::vector<Offset> nonzeros;
    layout->for_each_slot([&](const Slot& slot) { nonzeros.push_back(slot.nonzero); });
    std::int64_t end_of_first_four = 0;
    for (const Read& read : readers(*layout)) {
        const auto batch = std::upper_bound(begins.begin(), begins.end(), read.index) - begins.begin() - 1;
        const std::int64_t entry = nonzeros[read.index] - matrix.row_offsets[read.row];
        if (batch < 4) {
            CHECK(read.step == 4 * entry + batch);
            end_of_first_four = std::max(end_of_first_four, read.step + 1);
        } else {
            CHECK(read.step == end_of_first_four + 4 * entry + batch - 4);
        }
    }
}

TEST_CASE("hbp: a lane reads in the order of its steps, in all kernels alike") {
    const auto layout = build(hashed(in_tiles(ragged(400, 60), 200, 30)), {{"column_index", std::string("u16")}});
    std::vector<Read> of_fixed;
    std::map<std::pair<std::int64_t, int>, std::int64_t> last;
    for_each_read_of<double>(hbp_entry(), "fixed", *layout, [&](const Read& read) {
        const auto [lane, is_first] = last.try_emplace({read.warp, read.lane}, -1);
        CHECK(read.step > lane->second);
        lane->second = read.step;
        of_fixed.push_back(read);
    });
    CHECK(of_fixed.size() == static_cast<std::size_t>(layout->nonzeros()));
    for (const char* kernel : {"competitive", "mixed"}) {
        std::vector<Read> reads;
        for_each_read_of<double>(hbp_entry(), kernel, *layout, [&](const Read& read) { reads.push_back(read); });
        CHECK(reads == of_fixed);
    }
}

TEST_CASE("hbp: rows that a share lists without entries are marked, and their result is 0") {
    const CsrMatrix matrix = csr_from_entries(4, 3, std::vector<Entry>{{0, 0, 2}, {2, 0, 3}, {2, 1, 4}, {2, 2, 5}});
    StagedMatrix staged = stage_input(matrix);
    staged.cuts = {{CutKind::row_block, {0, 4}}, {CutKind::segment, {0, 2, 3}}};
    staged.shares = {Share{{ShareKind::tile, 0, 0}, {3, 2, 1, 0}, {0, 0, 2, 2, 3}, {1, 2, 0}},
                     Share{{ShareKind::tile, 0, 1}, {2, 0}, {0, 1, 1}, {3}}};
    CHECK_NOTHROW(check_invariants(staged, matrix));
    const auto layout = build(staged);
    const WideHbp& hbp = as_hbp(layout);
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
    CHECK(hbp_layout(layout).bytes_of_product() == arrays + 8 * (6 + 6) + 2 * 8 * 8);
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(hbp_entry().kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() ==
          hbp_layout(layout).bytes_of_product());
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
