// Layout dasp: exact arrays, the classes of rows, the fill of a fragment, the row blocks of a warp, and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/formats/dasp/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;
using Stored = std::vector<double>;
using Shorts = std::vector<std::uint16_t>;

std::unique_ptr<Layout<double>> build_dasp(const CsrMatrix& matrix, const Given& given = {}) {
    return build(dasp_entry(), stage_input(matrix), given);
}

const DaspLayout<double>& as_dasp(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const DaspLayout<double>&>(*layout);
}

/// Row i has lengths[i] nonzeros from column i on: values 1000 i + 1, 1000 i + 2, ...
CsrMatrix shifted_rows(const std::vector<Index>& lengths, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({row, row + k, 1000.0 * row + k + 1});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

template <typename Element>
std::vector<Element> first(const HostArray<Element>& all, std::size_t count, std::size_t from = 0) {
    REQUIRE(all.size() >= from + count);
    return {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(from + count)};
}

/// The number of slots of an array that contain no nonzero.
Offset padding(const Layout<double>& layout, const std::string& name) {
    const std::vector<LayoutField> fields = layout.fields();
    Offset found = 0;
    layout.for_each_slot([&](const Slot& slot) { found += slot.nonzero < 0 && fields[slot.array].name == name ? 1 : 0; });
    return found;
}

}  // namespace

TEST_CASE("dasp: the arrays of the 6 x 6 matrix, with rows of all classes") {
    const auto layout = build_dasp(drawn(), {{"short_row", 1_i}, {"long_row", 2_i}});
    const DaspLayout<double>& dasp = as_dasp(layout);
    CHECK(dasp.long_rows == Indices{0, 1, 4});
    CHECK(dasp.long_pieces == Indices{0, 1, 2, 3});
    CHECK(dasp.piece_rows == Indices{0, 1, 2});
    CHECK(dasp.piece_offsets == Offsets{0, 64, 128, 192});
    CHECK(first(dasp.long_columns, 4) == Indices{0, 1, 2, 2});
    CHECK(first(dasp.long_values, 4) == Stored{1, 2, 3, 0});
    CHECK(first(dasp.long_columns, 4, 64) == Indices{1, 2, 4, 4});
    CHECK(first(dasp.long_values, 4, 128) == Stored{10, 11, 12, 0});
    CHECK(dasp.medium_rows == Indices{3, -1, -1, -1, -1, -1, -1, -1});
    CHECK(dasp.block_fragments == Offsets{0, 0});
    CHECK(dasp.irregular_offsets == Offsets{0, 2});
    CHECK(dasp.irregular_ends == Shorts{2, 2, 2, 2, 2, 2, 2, 2});
    CHECK(dasp.irregular_columns == Indices{3, 5});
    CHECK(dasp.irregular_values == Stored{8, 9});
    CHECK(dasp.single_rows == Indices{2, 5});
    CHECK(dasp.single_columns == Indices{2, 5});
    CHECK(dasp.single_values == Stored{7, 13});
    CHECK(dasp.short_values.empty());
    CHECK(dasp.empty_rows.empty());
    CHECK_NOTHROW(check_layout(*layout, drawn()));
}

TEST_CASE("dasp: the arrays of the 6 x 6 matrix, all rows short") {
    const auto layout = build_dasp(drawn());
    const DaspLayout<double>& dasp = as_dasp(layout);
    CHECK(dasp.one_three_fragments == 1);
    CHECK(first(dasp.pair_rows, 8) == Indices{2, 0, 5, 1, -1, 4, -1, -1});
    CHECK(first(dasp.pair_rows, 4, 16) == Indices{3, -1, -1, -1});
    CHECK(dasp.pair_rows.size() == 32);
    CHECK(first(dasp.short_columns, 13) == Indices{2, 0, 1, 2, 5, 1, 2, 4, 0, 0, 4, 5, 0});
    CHECK(first(dasp.short_values, 13) == Stored{7, 1, 2, 3, 13, 4, 5, 6, 0, 10, 11, 12, 0});
    CHECK(first(dasp.short_columns, 5, 32) == Indices{3, 5, 0, 0, 0});
    CHECK(first(dasp.short_values, 5, 32) == Stored{8, 9, 0, 0, 0});
    CHECK(dasp.short_values.size() == 64);
    CHECK(dasp.four_rows.empty());
    CHECK(dasp.single_rows.empty());
    CHECK(layout->bytes_to_move() ==
          32 * 4 + 64 * (4 + 8) + 8 * (6 + 6) + 3 * 8 + 4);  // the three offset arrays and long_pieces contain one 0 each
}

TEST_CASE("dasp: the class of each length") {
    const CsrMatrix matrix = shifted_rows({256, 257, 5, 4, 3, 2, 1, 0, 1, 2, 2, 4}, 300);
    const auto layout = build_dasp(matrix);
    const DaspLayout<double>& dasp = as_dasp(layout);
    CHECK(dasp.long_rows == Indices{1});
    CHECK(first(dasp.medium_rows, 3) == Indices{0, 2, -1});
    CHECK(first(dasp.pair_rows, 4) == Indices{6, 4, -1, -1});
    CHECK(first(dasp.pair_rows, 6, 16) == Indices{5, 9, 10, -1, -1, -1});
    CHECK(first(dasp.four_rows, 3) == Indices{3, 11, -1});
    CHECK(dasp.single_rows == Indices{8});
    CHECK(dasp.empty_rows == Indices{7});
    CHECK_NOTHROW(check_layout(*layout, matrix));
}

TEST_CASE("dasp: fragments with the required fill are regular, and the rest of their rows is irregular") {
    const CsrMatrix full = shifted_rows({7, 7, 7, 7, 7, 7, 7, 7}, 20);  // 24 of the 32 places of the second fragment
    const auto layout = build_dasp(full);
    CHECK(as_dasp(layout).block_fragments == Offsets{0, 2});
    CHECK(as_dasp(layout).irregular_values.empty());
    CHECK(padding(*layout, "regular_values") == 8);
    // Fragments are stored one after the other, row by row; padding repeats the last column of the row.
    CHECK(first(as_dasp(layout).regular_values, 8) == Stored{1, 2, 3, 4, 1001, 1002, 1003, 1004});
    CHECK(first(as_dasp(layout).regular_values, 8, 32) == Stored{5, 6, 7, 0, 1005, 1006, 1007, 0});
    CHECK(first(as_dasp(layout).regular_columns, 8, 32) == Indices{4, 5, 6, 6, 5, 6, 7, 7});

    const CsrMatrix less = shifted_rows({7, 7, 7, 7, 7, 6, 7, 7}, 20);  // 23
    const auto other = build_dasp(less);
    CHECK(as_dasp(other).medium_rows == Indices{0, 1, 2, 3, 4, 6, 7, 5});
    CHECK(as_dasp(other).block_fragments == Offsets{0, 1});
    CHECK(as_dasp(other).irregular_ends == Shorts{3, 6, 9, 12, 15, 18, 21, 23});
    CHECK(first(as_dasp(other).irregular_values, 6) == Stored{5, 6, 7, 1005, 1006, 1007});
    CHECK(as_dasp(build_dasp(less, {{"fill", 0.7}})).block_fragments == Offsets{0, 2});
    CHECK(as_dasp(build_dasp(less, {{"fill", 0.0}})).irregular_values.empty());
    CHECK(as_dasp(build_dasp(full, {{"fill", 1.0}})).block_fragments == Offsets{0, 1});
}

TEST_CASE("dasp: rows are sorted by length, stably, as a whole or in windows") {
    std::vector<Index> lengths;
    for (Index row = 0; row < 130; ++row) lengths.push_back(5 + row % 3);
    const CsrMatrix matrix = shifted_rows(lengths, 140);
    const auto all = build_dasp(matrix);
    CHECK(first(as_dasp(all).medium_rows, 3) == Indices{2, 5, 8});
    CHECK(first(as_dasp(all).medium_rows, 3, 43) == Indices{1, 4, 7});
    const auto windows = build_dasp(matrix, {{"window", 64_i}});
    CHECK(first(as_dasp(windows).medium_rows, 22, 0).back() == 1);
    CHECK(first(as_dasp(windows).medium_rows, 3, 64) == Indices{65, 68, 71});
    CHECK(first(as_dasp(windows).medium_rows, 3, 128) == Indices{128, 129, -1});
    CHECK_NOTHROW(check_layout(*windows, matrix));
}

TEST_CASE("dasp: a long row is cut into pieces, each read by a separate warp") {
    const CsrMatrix matrix = shifted_rows({1000, 300}, 1100);
    const auto layout = build_dasp(matrix, {{"piece_steps", 5_i}});
    const DaspLayout<double>& dasp = as_dasp(layout);
    CHECK(dasp.piece_offsets == Offsets{0, 320, 640, 960, 1024, 1344});
    CHECK(dasp.long_pieces == Indices{0, 4, 5});
    CHECK(dasp.piece_rows == Indices{0, 0, 0, 0, 1});
    CHECK(padding(*layout, "long_values") == 44);
    for_each_read_of<double>(dasp_entry(), "tensor", *layout, [&](const Read& read) {
        const auto piece = std::upper_bound(dasp.piece_offsets.begin(), dasp.piece_offsets.end(), read.index);
        CHECK(read.warp == piece - dasp.piece_offsets.begin() - 1);
        CHECK(read.step == (read.index - *(piece - 1)) / 32);
        CHECK(read.lane == read.index % 32);
    });
    CHECK(as_dasp(layout).bytes_of_product() == layout->bytes_to_move() + 2 * 5 * 8);
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(dasp_entry().kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() == dasp.bytes_of_product());
}

TEST_CASE("dasp: a warp reads several row blocks together, and the four lanes of a row its irregular entries") {
    const CsrMatrix matrix = shifted_rows(std::vector<Index>(40, 14), 100);  // three fragments and two entries of each row left
    const auto layout = build_dasp(matrix);
    CHECK(as_dasp(layout).block_fragments == Offsets{0, 3, 6, 9, 12, 15});
    const int regular = array_number(as_dasp(layout).stored(), as_dasp(layout).regular_values);
    const auto check_reads = [&]<typename Shape>(Shape) {
        constexpr int blocks = Shape::row_blocks;
        walk_dasp(as_dasp(layout), blocks, [&](const Read& read) {
            const Offset block = read.row / 8;
            CHECK(read.warp == block / blocks);
            CHECK(read.lane / 4 == read.row % 8);
            if (read.array == regular) {
                CHECK(read.step == read.index / 32 % 3 * blocks + block % blocks);
            } else {
                CHECK(read.step == 3 * blocks + block % blocks);
                CHECK(read.lane % 4 == read.index % 2);
            }
        });
        CHECK_NOTHROW(check_schedule<double>(*layout, [](const auto& all, const auto& visit) {
            walk_dasp(dynamic_cast<const DaspLayout<double>&>(all), Shape::row_blocks, visit);
        }));
    };
    check_reads(DaspFlat{});
    check_reads(DaspSmall{});
    check_reads(DaspLong{});
    check_reads(DaspWide{});
    check_reads(DaspDeep{});
}

TEST_CASE("dasp: the row blocks per warp follow from their number and length") {
    const auto taken = []<typename Value>(Value, Offset row_blocks, Offset entries) {
        return with_dasp_shape<Value>(row_blocks, entries, 72000,
                                      []<typename Shape>(Shape) { return std::pair(Shape::row_blocks, Shape::fragments); });
    };
    CHECK(taken(0.0, 0, 0) == std::pair(2, 3));
    CHECK(taken(0.0, 71999, 71999 * 64) == std::pair(2, 3));
    CHECK(taken(0.0, 72000, 72000 * 64) == std::pair(2, 2));
    CHECK(taken(0.0, 72000, 72000 * 64 + 1) == std::pair(1, 3));
    CHECK(taken(0.0, 72000, 72000 * 128) == std::pair(1, 3));
    CHECK(taken(0.0, 72000, 72000 * 128 + 1) == std::pair(1, 2));
    CHECK(taken(0.0F, 71999, 71999 * 64) == std::pair(2, 3));
    for (const Offset steps : {1, 3, 9}) CHECK(taken(0.0F, 72000, 72000 * 32 * steps) == std::pair(4, 1));

    const auto warps = [](const CsrMatrix& matrix) {
        const auto layout = build_dasp(matrix);
        std::int64_t last = 0;
        for_each_read_of<double>(dasp_entry(), "tensor", *layout, [&](const Read& read) { last = std::max(last, read.warp); });
        return last + 1;
    };
    CHECK(warps(shifted_rows(std::vector<Index>(40, 5), 100)) == 3);  // five row blocks
    const Offset many_row_blocks = tuned::dasp_many_row_blocks(tuned_device_model());
    const Offset rows = dasp_rows * many_row_blocks;
    for (const auto& shape : {std::pair<Index, Offset>{5, 2}, {9, 1}, {17, 1}}) {
        const Index length = shape.first;
        const Offset blocks_of_warp = shape.second;
        CAPTURE(length);
        CHECK(warps(shifted_rows(std::vector<Index>(rows, length), static_cast<Index>(rows) + length)) ==
              many_row_blocks / blocks_of_warp);
    }
}

TEST_CASE("dasp: the classes of rows have separate thread blocks, the longest rows first") {
    std::vector<Index> lengths(40, 3);
    lengths[5] = 300;
    lengths[6] = 12;
    lengths[7] = 0;
    const auto layout = build_dasp(shifted_rows(lengths, 400));
    const DaspGrid grid = DaspGrid::of(as_dasp(layout), DaspWide::row_blocks);
    CHECK(grid.medium == 1);
    CHECK(grid.shorts == 2);
    CHECK(grid.lone == 3);
    CHECK(grid.end == 4);
    const DaspGrid none = DaspGrid::of(as_dasp(build_dasp(shifted_rows({}, 3))), DaspWide::row_blocks);
    CHECK(none.end == 0);
}

TEST_CASE("dasp: contradicting bounds are refused") {
    const LayoutEntry entry = dasp_entry();
    CHECK(entry.needs(Parameters(entry.parameters, {})).unsplit);
    CHECK(message_of<ParameterError>([&] {
              (void)entry.needs(Parameters(entry.parameters, {{"short_row", 4_i}, {"long_row", 3_i}}));
          }) == "short_row is above long_row: some rows would be both");
}

}  // namespace workbench
