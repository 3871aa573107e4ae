// Layout sell: which thread reads which slot, and refusals. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/rows/long_rows.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

std::unique_ptr<Layout<double>> build_sell(const CsrMatrix& matrix, std::int64_t slice_height, std::int64_t threads_per_row) {
    return build(sell_entry(), stage_input(matrix), {{"slice_height", slice_height}, {"threads_per_row", threads_per_row}});
}

/// "row: first + entries" and, if the row has several parts, the number of the sum.
std::vector<std::string> texts(const std::vector<SellPart>& parts) {
    std::vector<std::string> all;
    for (const SellPart& part : parts) {
        all.push_back(fmt::format("{}: {} + {}", part.row, part.first, part.entries));
        if (part.sum >= 0) all.back() += fmt::format(", sum {}", part.sum);
    }
    return all;
}

}  // namespace

TEST_CASE("sell: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = sell_entry();
    const auto built = build(entry, stage_input(drawn()), {{"slice_height", 2_i}});
    const auto& slices = std::get<0>(dynamic_cast<const AnyRowsLayout<double>&>(*built).stored);
    CHECK(slices.slice_offsets == std::vector<Offset>{0, 6, 10, 16});
    CHECK(slices.values == std::vector<double>{1, 4, 2, 5, 3, 6, 7, 8, 0, 9, 10, 13, 11, 0, 12, 0});
    CHECK(slices.column_indices == std::vector<Index>{0, 1, 1, 2, 2, 4, 2, 3, 2, 5, 0, 5, 4, 5, 5, 5});
}

TEST_CASE("slices: the columns of a group end before those of the next") {
    const CsrMatrix matrix = csr_from_entries(2, 4, std::vector<Entry>{{0, 0, 1}, {0, 2, 2}, {1, 3, 3}});
    const auto slots_with = [&](const std::vector<Index>& bounds) {
        const SlicePlan plan{.slice_height = 2, .group_places = {0, 1, 2}, .column_bounds = bounds};
        return build_slices<double, Index>(matrix, ShareView(matrix), plan).column_indices;
    };
    CHECK(slots_with({0, 3, 4}) == std::vector<Index>{0, 0, 2, 0, 0, 0});
    CHECK_THROWS_AS((void)slots_with({0, 2, 4}), std::logic_error);
    CHECK_THROWS_AS((void)slots_with({1, 3, 4}), std::logic_error);
}

TEST_CASE("slices: threads of a row read the same slots whether the height is known when they are compiled or not") {
    constexpr int height = 16;
    constexpr int threads = 4;
    Slices<double, Index, HostArray> slices;
    slices.slice_height = height;
    slices.slice_offsets = {0, 5 * height, 11 * height};
    for (const Offset slice : {0, 1}) {
        for (int thread = 0; thread < threads; ++thread) {
            const auto known = run_in_slice<height, threads>(slices, 7, slice, 3, thread, 2);
            const auto any = run_in_slice<0, threads>(slices, 7, slice, 3, thread, 2);
            CHECK(known.row == 7);
            CHECK(known.first_column == any.first_column);
            CHECK(known.count == any.count);
            for (Offset k = 0; k < known.count; ++k) CHECK(known.slot(k) == any.slot(k));
        }
    }
}

TEST_CASE("sell: the footprint is the arrays, padding included") {
    const auto sell = build(sell_entry(), stage_input(drawn()), {{"slice_height", 2_i}});
    CHECK(sell->bytes_to_move() == 4 * 8 + 16 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("sell: the lanes of a warp read adjacent slots of a slice of height 32") {
    for (const NamedMatrix& named : battery()) {
        const auto layout = build<float>(sell_entry(), stage_input(named.matrix), {{"threads_per_row", 1_i}});
        for_each_read_of<float>(sell_entry(), "slices", *layout, [&](const Read& read) {
            CHECK(read.index % 32 == read.lane);
            CHECK(read.row % 32 == read.lane);
        });
    }
}

TEST_CASE("sell: long rows get one block each, longer rows several, the longest first") {
    const SellLongRows found = find_long_rows({5, 513, 512, 9000, 4096, 4097}, 512);
    CHECK(texts(found.parts) == std::vector<std::string>{"3: 0 + 4096, sum 0", "3: 4096 + 4096, sum 1", "3: 8192 + 808, sum 2",
                                                         "5: 0 + 4096, sum 3", "5: 4096 + 1, sum 4", "4: 0 + 4096",
                                                         "1: 0 + 513"});
    REQUIRE(found.sums.size() == 2);
    CHECK(found.sums[0].row == 3);
    CHECK(found.sums[0].first == 0);
    CHECK(found.sums[0].count == 3);
    CHECK(found.sums[1].row == 5);
    CHECK(found.sums[1].first == 3);
    CHECK(found.sums[1].count == 2);
    CHECK(found.sum_count() == 5);
    CHECK(find_long_rows({5, 512}, 512).parts.empty());
    CHECK(find_long_rows({}, 512).sum_count() == 0);
}

TEST_CASE("sell: the lengths of rows are read if that saves memory traffic") {
    const auto by_lengths = [](const std::vector<Entry>& entries, const Given& given) {
        const auto layout = build(sell_entry(), stage_input(csr_from_entries(64, 600, entries)), given);
        return dynamic_cast<const AnyRowsLayout<double>&>(*layout).by_lengths();
    };
    std::vector<Entry> even;
    for (Index row = 0; row < 64; ++row) {
        for (Index k = 0; k < 10; ++k) even.push_back({row, k, 1});
    }
    CHECK(!by_lengths(even, {}));
    CHECK(!by_lengths(even, {{"split_length", 10_i}}));
    CHECK(by_lengths(even, {{"split_length", 9_i}}));
    CHECK(by_lengths(even, {{"slice_height", 64_i}}));
    CHECK(!by_lengths(even, {{"split_length", 9_i}, {"threads_per_row", 1_i}}));
    std::vector<Entry> padded = even;
    for (Index k = 10; k < 30; ++k) padded.push_back({0, k, 1});  // rows 0 and 1 then have 40 slots
    CHECK(!by_lengths(padded, {}));
    padded.push_back({0, 30, 1});
    for (Index k = 31; k < 40; ++k) padded.push_back({0, k, 1});
    for (Index k = 10; k < 40; ++k) padded.push_back({63, k, 1});
    CHECK(by_lengths(padded, {}));
}

TEST_CASE("sell: padding is neither read nor counted") {
    // One slice of 64 rows: the first 32 have one nonzero, row 32 has 3, the others none.
    std::vector<Entry> entries;
    for (Index row = 0; row < 32; ++row) entries.push_back({row, row, 1});
    for (Index column = 0; column < 3; ++column) entries.push_back({32, column, 2});
    const CsrMatrix matrix = csr_from_entries(64, 64, entries);
    const auto layout = build(sell_entry(), stage_input(matrix), {{"slice_height", 64_i}});
    const auto& sell = dynamic_cast<const AnyRowsLayout<double>&>(*layout);
    CHECK(std::get<0>(sell.stored).values.size() == 3 * 64);
    CHECK(sell.row_lengths()[32] == 3);
    std::set<Offset> read;
    for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& one) { read.insert(one.index); });
    CHECK(read.size() == 35);
    const std::int64_t by_rows = sell.bytes_to_move() - (3 * 64 - 35) * (8 + 4) + 64 * 4;
    const auto bytes_with = [&](const SellLongRows& long_rows) {
        return bytes_by_rows<double>(std::get<0>(sell.stored), sell.row_lengths(), {}, long_rows, sell.bytes_to_move());
    };
    CHECK(bytes_with({}) == by_rows);
    CHECK(bytes_with(find_long_rows({5000}, 512)) == by_rows + 2 * 16 + 2 * 2 * 8);
}

TEST_CASE("sell: with several threads per row, a warp reads adjacent slots of its slice") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const int threads : {1, 2, 4, 8, 16, 32}) {
            const int rows = 32 / threads;
            const auto layout = build_sell(named.matrix, rows, threads);
            const auto& offsets = std::get<0>(dynamic_cast<const AnyRowsLayout<double>&>(*layout).stored).slice_offsets;
            for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& read) {
                CHECK(read.index == offsets[read.warp] + read.step * 32 + read.lane);
                CHECK(read.row == read.warp * rows + read.lane % rows);
            });
        }
    }
}

TEST_CASE("sell: threads share a row for any slice height") {
    // Row 0 has 5 entries and row 1 has 2; slices have 3 rows, with 4 threads per row, so a warp has 8 rows.
    std::vector<Entry> entries{{1, 1, 6}, {1, 4, 7}};
    for (Index column = 0; column < 5; ++column) entries.push_back({0, column, 1.0 + column});
    const auto layout = build_sell(csr_from_entries(2, 5, entries), 3, 4);
    std::string text;
    for_each_read_of<double>(sell_entry(), "slices", *layout, [&](const Read& read) {
        text += std::to_string(read.index) + ":" + std::to_string(read.lane) + "/" + std::to_string(read.step) + " ";
    });
    // Slot 3 k + row: the two rows read their steps 0 to 4; the shorter row reads padding from step 2 on.
    CHECK(text == "0:0/0 12:0/1 1:1/0 13:1/1 3:8/0 4:9/0 6:16/0 7:17/0 9:24/0 10:25/0 ");
}

TEST_CASE("sell: slices around the heights for which the kernel is compiled") {
    const auto host = make_host_device();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CsrMatrix matrix = named.matrix;
        for (std::size_t k = 0; k < matrix.values.size(); ++k) matrix.values[k] = 1 + static_cast<double>(k % 7);
        std::vector<double> x(matrix.columns);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5) - 2;
        std::vector<double> expected(matrix.rows, 0);
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                expected[row] += matrix.values[k] * x[matrix.column_indices[k]];
            }
        }
        for (const std::int64_t height : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
            CAPTURE(height);
            for (const std::int64_t threads : {1, 2, 4}) {
                const auto layout = build_sell(matrix, height, threads);
                CHECK_NOTHROW(check_schedule(*layout, sell_entry().schedules.front().walk.f64));
                if (threads > 1) continue;  // which share rows on a GPU alone
                std::vector<double> y(matrix.rows, 5);
                sell_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
                CHECK(y == expected);
            }
        }
    }
}

TEST_CASE("sell: a number of threads per row that is not a power of two is refused") {
    const LayoutEntry entry = sell_entry();
    for (const std::int64_t threads : {3, 6, 31}) {
        CHECK_THROWS_AS((void)entry.needs(Parameters(entry.parameters, {{"threads_per_row", threads}})), ParameterError);
    }
    CHECK(entry.needs(Parameters(entry.parameters, {{"threads_per_row", std::int64_t{32}}})).unsplit);
}

TEST_CASE("sell: padding that exceeds memory is refused with its size") {
    constexpr Index size = 1 << 20;
    std::vector<Entry> entries;
    for (Index column = 0; column < size; ++column) entries.push_back({7, column, 1});
    const CsrMatrix matrix = csr_from_entries(size, size, entries);
    const std::string message = message_of<Unsuitable>([&] {
        (void)build(sell_entry(), stage_input(matrix), {{"slice_height", 65536_i}});
    });
    CHECK(message.find("slices of height 65536 would have 68719476736 slots for 1048576 nonzeros: 824633720832 bytes") == 0);
}

TEST_CASE("sell: columns of 16 bits are relative to the first of their slice; slices that are too wide have 32") {
    // Slices of 2 rows: the first spans 65536 columns, the second one more, the third is empty.
    const std::vector<Entry> entries{{0, 9, 1},     {0, 700, 2},           {1, 9 + 65535, 3},
                                     {2, 70000, 4}, {3, 70000 + 65536, 5}, {3, 140000, 6}};
    const CsrMatrix matrix = csr_from_entries(6, 150000, entries);
    for (const std::int64_t threads : {0, 1, 16}) {
        CAPTURE(threads);
        Given given{{"slice_height", 2_i}, {"column_index", std::string("u16")}};
        if (threads > 0) given["threads_per_row"] = threads;
        const auto layout = build(sell_entry(), stage_input(matrix), given);
        const auto& sell = std::get<1>(dynamic_cast<const AnyRowsLayout<double>&>(*layout).stored);
        CHECK(sell.first_columns == std::vector<Index>{9, -1, 0});
        CHECK(sell.column_indices == std::vector<std::uint16_t>{0, 65535, 691, 65535, 4464, 4464, 4464, 140000 - 131072});
        CHECK(sell.wide_offsets == std::vector<Offset>{0});
        CHECK(sell.high_columns == std::vector<std::uint16_t>{1, 2, 1, 2});
        CHECK(layout->bytes_to_move() == 4 * 8 + 8 * (2 + 8) + 3 * 4 + 8 + 4 * 2 + 8 * (6 + 150000));
        CHECK(layout->notes() ==
              std::vector<std::pair<std::string, std::string>>{{"slices with columns of 32 bits", "1 of 3"}});
        // Two slots of padding, one of them in the wide slice.
        const HostArray<Index> lengths = dynamic_cast<const AnyRowsLayout<double>&>(*layout).row_lengths();
        CHECK(bytes_by_rows<double>(sell, lengths, sell.first_columns, {}, layout->bytes_to_move()) ==
              layout->bytes_to_move() - 2 * (8 + 2) - 2 + 6 * 4);
        CHECK_NOTHROW(check_layout(*layout, matrix));
        for (const ScheduleEntry& schedule : sell_entry().schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        std::vector<double> x(150000);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 1013);
        const auto host = make_host_device();
        std::vector<double> y(6, 5);
        sell_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
        CHECK(y == std::vector<double>{x[9] + 2 * x[700], 3 * x[65544], 4 * x[70000], 5 * x[135536] + 6 * x[140000], 0, 0});
    }
}

TEST_CASE("sell: a walk over inconsistent arrays of 16-bit columns is an error") {
    const std::vector<Entry> entries{{0, 9, 1}, {2, 70000, 4}, {3, 140000, 6}};
    const auto broken = [&](const auto& breaks) {
        const auto layout = build(sell_entry(), stage_input(csr_from_entries(6, 150000, entries)),
                                  {{"slice_height", 4_i}, {"column_index", std::string("u16")}});
        auto& sell = std::get<1>(dynamic_cast<AnyRowsLayout<double>&>(*layout).stored);
        breaks(sell);
        CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
    };
    broken([](auto& sell) { sell.first_columns.pop_back(); });
    broken([](auto& sell) { sell.first_columns[0] = -2; });
    broken([](auto& sell) { sell.first_columns[0] = 0; });
    broken([](auto& sell) { sell.first_columns[1] = -2; });
    broken([](auto& sell) { sell.wide_offsets[0] = 1; });
    broken([](auto& sell) { sell.wide_offsets.clear(); });
    broken([](auto& sell) { sell.high_columns.pop_back(); });
    broken([](auto& sell) { sell.column_indices.pop_back(); });
    broken([](auto& sell) { sell.high_columns[3] = 9; });
}

TEST_CASE("sell: default threads per row and slice height") {
    for (const auto& [length, threads] : std::vector<std::pair<Index, Index>>{{20, 1}, {21, 2}, {48, 2}, {49, 4}}) {
        std::vector<Entry> entries;
        for (Index row = 0; row < 64; ++row) {
            for (Index k = 0; k < length; ++k) entries.push_back({row, k, 1});
        }
        const StagedMatrix staged = stage_input(csr_from_entries(64, 64, entries));
        const auto of_auto = build(sell_entry(), staged, {{"slice_height", std::string("auto")}});
        const auto& sell = std::get<0>(dynamic_cast<const AnyRowsLayout<double>&>(*of_auto).stored);
        CHECK(sell.slice_height == 32 / threads);
        CHECK(sell_threads(sell) == threads);
        CHECK(!dynamic_cast<const AnyRowsLayout<double>&>(*of_auto).by_lengths());
        const auto usual = build(sell_entry(), staged);
        CHECK(sell_threads(std::get<0>(dynamic_cast<const AnyRowsLayout<double>&>(*usual).stored)) == std::min(threads, 2));
        const auto single = build<float>(sell_entry(), staged);
        CHECK(sell_threads(std::get<0>(dynamic_cast<const AnyRowsLayout<float>&>(*single).stored)) == (length > 48 ? 2 : 1));
        const auto given = build(sell_entry(), staged, {{"slice_height", std::string("auto")}, {"threads_per_row", 8_i}});
        CHECK(std::get<0>(dynamic_cast<const AnyRowsLayout<double>&>(*given).stored).slice_height == 4);
    }
}

}  // namespace workbench
