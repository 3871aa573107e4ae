// Layout halo: its arrays, which blocks it stores once, and its fallbacks. kernels_test.cpp checks what all layouts have in
// common.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/halo/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Places = std::vector<std::uint16_t>;

const HaloLayout<double>& as_halo(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const HaloLayout<double>&>(*layout);
}

StagedMatrix in_parts(const CsrMatrix& matrix, std::vector<Index> boundaries) {
    StagedMatrix staged = stage_input(matrix);
    staged.cuts.push_back({CutKind::partition, std::move(boundaries)});
    return staged;
}

std::unique_ptr<Layout<double>> build_halo(const StagedMatrix& staged, Given given = {}) {
    given.try_emplace("warps", 1_i);
    given.try_emplace("slots_per_nonzero", 1e6);
    return build(halo_entry(), staged, given);
}

/// The first lanes of each group of 32.
template <typename Element>
std::vector<Element> first_lanes_of(const HostArray<Element>& array, std::size_t lanes) {
    std::vector<Element> elements;
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (i % halo_lanes < lanes) elements.push_back(array[i]);
    }
    return elements;
}

/// 2 -1  .  5
/// -1  3 -2  .
///  . -2  4 -3
///  5  . -3  6
CsrMatrix ring() {
    return csr_from_entries(4, 4,
                            std::vector<Entry>{{0, 0, 2},
                                               {0, 1, -1},
                                               {0, 3, 5},
                                               {1, 0, -1},
                                               {1, 1, 3},
                                               {1, 2, -2},
                                               {2, 1, -2},
                                               {2, 2, 4},
                                               {2, 3, -3},
                                               {3, 0, 5},
                                               {3, 2, -3},
                                               {3, 3, 6}});
}

/// An arrow and a band: symmetric, with few nonzeros per row, so that products are exact in f32.
CsrMatrix symmetric(Index size) {
    std::vector<Entry> entries;
    const auto add = [&](Index i, Index j, double value) {
        entries.push_back({i, j, value});
        if (i != j) entries.push_back({j, i, value});
    };
    for (Index i = 0; i < size; ++i) {
        add(i, i, 4 + i % 3);
        for (const Index step : {1, 2, 7}) {
            if (i + step < size) add(i, i + step, 1 + (i * 5 + step) % 11);
        }
        if (i > 10) add(0, i, 1 + i % 4);
    }
    return csr_from_entries(size, size, entries);
}

std::vector<double> halo_product(const Layout<double>& layout, const std::vector<double>& x) {
    static const std::unique_ptr<Device> host = make_host_device();
    std::vector<double> y(layout.rows(), std::nan(""));
    halo_entry().kernels.front().prepare.f64(layout, *host)->run(x.data(), y.data(), false);
    return y;
}

std::vector<double> halo_product(const CsrMatrix& matrix, const std::vector<double>& x) {
    std::vector<double> y(matrix.rows, 0);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            y[row] += matrix.values[i] * x[matrix.column_indices[i]];
        }
    }
    return y;
}

std::vector<double> counting(Index size) {
    std::vector<double> x(size);
    for (Index i = 0; i < size; ++i) x[i] = 1 + i % 13;
    return x;
}

std::map<std::string, std::string> notes_of(const HaloLayout<double>& halo) {
    std::map<std::string, std::string> notes;
    for (const auto& [what, text] : halo.notes()) notes[what] = text;
    return notes;
}

}  // namespace

TEST_CASE("halo: the arrays of the 6 x 6 matrix") {
    const auto layout = build_halo(in_parts(drawn(), {0, 3, 6}));
    const HaloLayout<double>& halo = as_halo(layout);
    CHECK(halo.part_nodes == Indices{0, 3, 6});
    CHECK(halo.halo_offsets == Indices{0, 1, 2});
    CHECK(halo.halo_nodes == Indices{4, 0});
    CHECK(halo.diagonal_groups == Indices{0, 1, 2});
    CHECK(halo.warp_steps == Indices{0, 2, 4});
    CHECK(halo.warp_segments == Indices{0, 1, 2});
    CHECK(halo.rest_segments == Indices{0, 1});
    CHECK(halo.segment_steps == Indices{0, 2, 4});
    CHECK(halo.far_steps == Indices{0, 0, 0});
    CHECK(first_lanes_of(halo.diagonal, 4) == std::vector<double>{1, 4, 7, 0, 8, 11, 13, 0});
    CHECK(first_lanes_of(halo.segment_rows, 3) == Places{0, 1, no_place, 1, 0, no_place});
    CHECK(first_lanes_of(halo.column_places, 3) ==
          Places{1, 2, no_place, 2, 3, no_place, 3, 2, no_place, 2, no_place, no_place});
    CHECK(first_lanes_of(halo.values, 3) == std::vector<double>{2, 5, 0, 3, 6, 0, 10, 9, 0, 12, 0, 0});
    CHECK(halo.values.size() == 4 * 32);
    CHECK(halo.far_values.empty());
    CHECK(layout->bytes_to_move() == 4 * (4 * 3 + 2 + 3 + 3 + 2 + 3) + 32 * (2 * 8 + 2 * 2 + 4 * 2 + 4 * 8) + 8 * (6 + 6));
    CHECK_NOTHROW(check_layout(*layout, drawn()));
}

TEST_CASE("halo: a row with as many blocks as a piece may have is not cut") {
    const auto with_piece = [](std::int64_t piece) { return build_halo(in_parts(drawn(), {0, 3, 6}), {{"piece", piece}}); };
    const auto uncut = with_piece(100);
    const auto of_two = with_piece(2);  // the longest rows have two blocks
    const auto of_one = with_piece(1);
    CHECK(as_halo(of_two).segment_rows == as_halo(uncut).segment_rows);
    CHECK(as_halo(of_two).column_places == as_halo(uncut).column_places);
    CHECK(first_lanes_of(as_halo(of_one).segment_rows, 4) != first_lanes_of(as_halo(uncut).segment_rows, 4));
    CHECK(as_halo(of_one).segment_steps == Indices{0, 1, 2});
}

TEST_CASE("halo: a pair within a part is stored once, at its shorter row; a pair across parts twice") {
    const auto whole = build_halo(in_parts(ring(), {0, 4}));
    const HaloLayout<double>& one = as_halo(whole);
    CHECK(one.pairs == 4);
    CHECK(one.blocks == 4);
    CHECK(one.segment_steps == Indices{0, 1});
    CHECK(one.rest_segments == Indices{1});
    CHECK(first_lanes_of(one.segment_rows, 5) == Places{0, 1, 2, 3, no_place});
    CHECK(first_lanes_of(one.column_places, 5) == Places{1, 2, 3, 0, no_place});
    CHECK(first_lanes_of(one.values, 5) == std::vector<double>{-1, -2, -3, 5, 0});
    CHECK(first_lanes_of(one.diagonal, 5) == std::vector<double>{2, 3, 4, 6, 0});
    CHECK_NOTHROW(check_layout(*whole, ring()));

    const auto halves = build_halo(in_parts(ring(), {0, 2, 4}));
    const HaloLayout<double>& two = as_halo(halves);
    CHECK(two.pairs == 2);
    CHECK(two.blocks == 6);
    CHECK(two.halo_nodes == Indices{2, 3, 0, 1});
    CHECK(two.rest_segments == Indices{1, 3});
    CHECK(first_lanes_of(two.segment_rows, 2) == Places{0, no_place, 0, 1, 0, no_place, 0, 1});
    CHECK(first_lanes_of(two.column_places, 2) == Places{1, no_place, 3, 2, 1, no_place, 3, 2});
    CHECK(first_lanes_of(two.values, 2) == std::vector<double>{-1, 0, 5, -2, -3, 0, -2, 5});
    CHECK_NOTHROW(check_layout(*halves, ring()));
    CHECK(notes_of(two).at("blocks") == "6 of 1 x 1, 2 of them for their mirrors too");
    CHECK(notes_of(two).at("parts") == "2, of at most 2 nodes and a halo of 2");
    CHECK(notes_of(two).at("heaviest part") == "0.0 % above the mean, in bytes");
    const auto one_empty = build_halo(in_parts(ring(), {0, 4, 4}));
    CHECK(notes_of(as_halo(one_empty)).at("heaviest part") == "100.0 % above the mean, in bytes");
    // Both parts have two steps of 32 values and columns and a diagonal of 32 values. One has x of 1 and 2 columns and 8 bytes
    // of column numbers, the other x of 3 and 1 columns and 4 bytes of column numbers: 928 and 932 bytes.
    const auto uneven = build_halo(in_parts(ring(), {0, 1, 4}));
    CHECK(notes_of(as_halo(uneven)).at("heaviest part") == "0.2 % above the mean, in bytes");
    // In f32 both parts have 20 bytes of x and numbers.
    const auto narrow = build<float>(halo_entry(), in_parts(ring(), {0, 1, 4}), {{"warps", 1_i}, {"slots_per_nonzero", 1e6}});
    const auto notes_of_narrow = narrow->notes();
    CHECK(std::find(notes_of_narrow.begin(), notes_of_narrow.end(),
                    std::pair<std::string, std::string>{"heaviest part", "0.0 % above the mean, in bytes"}) !=
          notes_of_narrow.end());

    const auto off = build_halo(in_parts(ring(), {0, 4}), {{"symmetric", std::string("off")}});
    CHECK(as_halo(off).pairs == 0);
    CHECK(as_halo(off).blocks == 12);
    CHECK_FALSE(as_halo(off).has_diagonal());
    CHECK_NOTHROW(check_layout(*off, ring()));
}

TEST_CASE("halo: only values that are equal in every bit are stored once") {
    const auto pairs_of = [](double above, double below) {
        const std::vector<Entry> entries{{0, 0, 1}, {0, 1, above}, {1, 0, below}, {1, 1, 1}, {2, 1, 4}};
        const CsrMatrix matrix = csr_from_entries(3, 3, entries);
        const auto layout = build_halo(in_parts(matrix, {0, 3}));
        CHECK_NOTHROW(check_layout(*layout, matrix));
        return as_halo(layout).pairs;
    };
    CHECK(pairs_of(0.1, 0.1) == 1);
    CHECK(pairs_of(0.1, std::nextafter(0.1, 1)) == 0);
    CHECK(pairs_of(0.0, -0.0) == 0);
    CHECK(pairs_of(std::nan(""), std::nan("")) == 1);
}

TEST_CASE("halo: diagonal blocks are stored as triangles if all of them are symmetric") {
    const CsrMatrix matrix = symmetric(41);  // the last node lacks an unknown
    for (const std::int64_t size : {2, 3, 4, 5, 6}) {
        CAPTURE(size);
        const auto layout =
            build_halo(in_parts(matrix, {0, 13, 13, 41}), {{"block_size", size}, {"warps", 3_i}, {"piece", 2_i}});
        const HaloLayout<double>& halo = as_halo(layout);
        CHECK(halo.has_diagonal());
        CHECK(halo.pairs > 0);
        CHECK(halo.part_nodes[1] == (13 + size - 1) / size);
        CHECK_NOTHROW(check_layout(*layout, matrix));
        CHECK(halo_product(*layout, counting(41)) == halo_product(matrix, counting(41)));
    }
    CsrMatrix skew = matrix;
    skew.values[1] += 1;  // (0, 1), within the first node
    const auto layout = build_halo(in_parts(skew, {0, 41}), {{"block_size", 2_i}});
    CHECK_FALSE(as_halo(layout).has_diagonal());
    CHECK(notes_of(as_halo(layout)).at("diagonal") == "among the other blocks: not all of its blocks are symmetric");
    CHECK_NOTHROW(check_layout(*layout, skew));
    CHECK(halo_product(*layout, counting(41)) == halo_product(skew, counting(41)));
}

TEST_CASE("halo: a node of the mesh is a block, and large nodes are refused") {
    CHECK(as_halo(build_halo(stage_input(symmetric(42), 3))).block_size == 3);
    CHECK(message_of<Unsuitable>([] { (void)build_halo(stage_input(symmetric(42), 7)); }) ==
          "nodes of 7 unknowns, but blocks have at most 6: set block_size");
}

TEST_CASE("halo: columns that exceed shared memory are read from global memory, and parts that exceed it are cut") {
    const CsrMatrix matrix = symmetric(60);
    const StagedMatrix staged = in_parts(matrix, {0, 20, 60});
    const auto roomy = build_halo(staged);
    CHECK(as_halo(roomy).far_blocks == 0);
    CHECK(notes_of(as_halo(roomy)).count("blocks outside") == 0);

    // Memory for x and y of 40 nodes and for 4 more columns.
    const auto tight = build_halo(staged, {{"shared_memory", 84_i * 8}});
    CHECK(as_halo(tight).parts() == 2);
    CHECK(as_halo(tight).halo_offsets[2] - as_halo(tight).halo_offsets[1] == 4);
    CHECK(as_halo(tight).far_blocks > 0);
    CHECK(notes_of(as_halo(tight)).count("blocks outside") == 1);
    CHECK_NOTHROW(check_layout(*tight, matrix));
    CHECK(halo_product(*tight, counting(60)) == halo_product(matrix, counting(60)));

    // Memory for x and y of 39 nodes: the part of 40 nodes is cut into two pieces of at most 29.
    const auto cut = build_halo(staged, {{"shared_memory", 78_i * 8}});
    CHECK(as_halo(cut).part_nodes == Indices{0, 20, 40, 60});
    CHECK(notes_of(as_halo(cut)).at("parts cut") == "1 were too large for the shared memory");
    CHECK_NOTHROW(check_layout(*cut, matrix));
    CHECK(halo_product(*cut, counting(60)) == halo_product(matrix, counting(60)));

    // Memory for x and y of 20 nodes: three pieces of at most 15.
    const auto three = build_halo(staged, {{"shared_memory", 40_i * 8}});
    CHECK(as_halo(three).part_nodes == Indices{0, 20, 33, 46, 60});
    CHECK(notes_of(as_halo(three)).at("parts cut") == "1 were too large for the shared memory");

    // Without memory for any column, each node is a part and every column is read from global memory.
    const auto least = build_halo(staged, {{"shared_memory", 32_i}, {"symmetric", std::string("off")}});
    CHECK(as_halo(least).part_nodes.size() == 61);
    CHECK(as_halo(least).pairs == 0);
    CHECK(halo_product(*least, counting(60)) == halo_product(matrix, counting(60)));
}

TEST_CASE("halo: the columns that most blocks need are kept in shared memory") {
    // Rows 0 to 3 need column 4 + row once, column 9 three times and column 10 twice.
    std::vector<Entry> entries;
    for (Index row = 0; row < 4; ++row) entries.push_back({row, 4 + row, 1});
    for (const Index row : {0, 1, 3}) entries.push_back({row, 9, 2});
    for (const Index row : {1, 2}) entries.push_back({row, 10, 3});
    const CsrMatrix matrix = csr_from_entries(12, 12, entries);
    // x and y of 8 nodes, and N columns.
    const auto of = [&](std::int64_t columns) {
        return build_halo(in_parts(matrix, {0, 4, 12}), {{"shared_memory", (16 + columns) * 8}});
    };
    const auto first_halo = [](const HaloLayout<double>& halo) {
        return Indices(halo.halo_nodes.begin(), halo.halo_nodes.begin() + halo.halo_offsets[1]);
    };
    // The first part has 4 nodes of its own, and so 8 columns more than the second.
    CHECK(as_halo(of(0)).far_blocks == 0);
    const auto with_one = build_halo(in_parts(matrix, {0, 4, 8, 12}), {{"shared_memory", 9_i * 8}});
    CHECK(first_halo(as_halo(with_one)) == Indices{9});
    CHECK(as_halo(with_one).far_blocks == 4 + 2);
    const auto with_two = build_halo(in_parts(matrix, {0, 4, 8, 12}), {{"shared_memory", 10_i * 8}});
    CHECK(first_halo(as_halo(with_two)) == Indices{9, 10});
    CHECK(as_halo(with_two).far_blocks == 4);
    // Bytes of the first part: 2 steps of 32 values and columns, x of 6 columns, 2 numbers, a diagonal of 32 values, and a far
    // step of 32 values, rows and columns: 640 + 48 + 8 + 256 + 448 = 1400. Of each other part: 32 + 256.
    CHECK(notes_of(as_halo(with_two)).at("heaviest part") == "112.6 % above the mean, in bytes");
    CHECK(halo_product(*with_two, counting(12)) == halo_product(matrix, counting(12)));
}

TEST_CASE("halo: values of 4 bytes leave room for twice as many nodes and columns") {
    const CsrMatrix matrix = symmetric(60);
    const auto part_nodes = [&]<ValueType Value>(Value, std::int64_t bytes) {
        const auto layout = build<Value>(halo_entry(), in_parts(matrix, {0, 20, 60}),
                                         {{"warps", 1_i}, {"slots_per_nonzero", 1e6}, {"shared_memory", bytes}});
        const auto& halo = dynamic_cast<const HaloLayout<Value>&>(*layout);
        return std::pair{Indices(halo.part_nodes.begin(), halo.part_nodes.end()), halo.far_blocks};
    };
    CHECK(part_nodes(1.0F, 84_i * 4) == part_nodes(1.0, 84_i * 8));
    CHECK(part_nodes(1.0F, 78_i * 4) == part_nodes(1.0, 78_i * 8));
    CHECK(part_nodes(1.0F, 84_i * 8).first == Indices{0, 20, 60});
    CHECK(part_nodes(1.0F, 84_i * 8).second == 0);
    CHECK(part_nodes(1.0, 84_i * 8).second > 0);
}

TEST_CASE("halo: rows in pieces have less padding, and warps equal numbers of steps") {
    const CsrMatrix matrix = symmetric(200);
    std::size_t steps = std::numeric_limits<std::size_t>::max();
    for (const std::int64_t piece : {100, 4, 1}) {
        const auto layout =
            build_halo(in_parts(matrix, {0, 200}), {{"piece", piece}, {"warps", 5_i}, {"symmetric", std::string("off")}});
        const HaloLayout<double>& halo = as_halo(layout);
        CHECK_NOTHROW(check_layout(*layout, matrix));
        CHECK(halo_product(*layout, counting(200)) == halo_product(matrix, counting(200)));
        CHECK(halo.column_places.size() < steps);
        steps = halo.column_places.size();
        for (Index warp = 0; warp < 5; ++warp) {
            const Index own = halo.segment_steps[halo.warp_segments[warp + 1]] - halo.segment_steps[halo.warp_segments[warp]];
            CHECK(std::abs(own - static_cast<Index>(steps / halo_lanes) / 5) <= 1);
        }
    }
}

namespace {

/// Changes the elements of an array one at a time. Returns the number of changes that the walk does not detect.
/// `except`: the value of elements that are not changed.
template <typename Element>
int overlooked_in_halo(const Layout<double>& layout, const CsrMatrix& matrix, const HostArray<Element>& array,
                       Element except = -2) {
    int missed = 0;
    for (const Element& element : array) {
        if (element == except) continue;
        auto& place = const_cast<Element&>(element);
        for (const int change : {-1, 1}) {
            const Element before = place;
            place = static_cast<Element>(place + change);
            try {
                check_layout(layout, matrix);
                ++missed;
            } catch (const std::logic_error&) {
            }
            place = before;
        }
    }
    return missed;
}

}  // namespace

TEST_CASE("halo: an array that is too short is detected before it is walked") {
    const CsrMatrix matrix = symmetric(17);
    auto layout = build_halo(in_parts(matrix, {0, 8, 17}), {{"warps", 2_i}, {"shared_memory", 240_i}, {"piece", 3_i}});
    auto& halo = const_cast<HaloLayout<double>&>(as_halo(layout));
    const auto is_refused_without_last = [&](auto& array) {
        REQUIRE(!array.empty());
        const auto last = array.back();
        array.pop_back();
        const bool refused =
            message_of<std::logic_error>([&] { layout->for_each_slot([](const Slot&) {}); }) != "nothing was thrown";
        array.push_back(last);
        return refused;
    };
    CHECK(is_refused_without_last(halo.rest_segments));
    CHECK(is_refused_without_last(halo.values));
    CHECK_NOTHROW(check_layout(*layout, matrix));
}

TEST_CASE("halo: a fault in any array is detected, including slots of two nonzeros") {
    const CsrMatrix matrix = symmetric(17);
    for (const std::int64_t shared_memory : {100000, 30 * 8}) {
        const auto layout =
            build_halo(in_parts(matrix, {0, 8, 17}), {{"warps", 2_i}, {"shared_memory", shared_memory}, {"piece", 3_i}});
        const HaloLayout<double>& halo = as_halo(layout);
        REQUIRE_NOTHROW(check_layout(*layout, matrix));
        CHECK(halo.pairs > 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.part_nodes) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.halo_offsets) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.halo_nodes) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.diagonal_groups) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.diagonal) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.warp_steps) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.warp_segments) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.rest_segments) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.segment_steps) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.segment_rows) == 0);
        // Padding multiplies by zero, so it may read any column.
        CHECK(overlooked_in_halo(*layout, matrix, halo.column_places, no_place) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.values) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.far_steps) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.far_rows) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.far_columns) == 0);
        CHECK(overlooked_in_halo(*layout, matrix, halo.far_values) == 0);
    }
}

TEST_CASE("halo: the host multiplies pairs of blocks, and a last block that exceeds the matrix, for all sizes of parts") {
    for (const Index size : {60, 61, 62, 65}) {
        const CsrMatrix matrix = symmetric(size);
        const std::vector<double> x = counting(size);
        for (const std::int64_t block_size : {1, 2, 3, 5}) {
            for (const std::int64_t parts : {1, 4, 20}) {
                CAPTURE(size);
                CAPTURE(block_size);
                CAPTURE(parts);
                const auto layout = build_halo(stage_input(matrix), {{"block_size", block_size}, {"parts", parts}});
                if (parts == 1) CHECK(as_halo(layout).pairs > 0);
                CHECK(halo_product(*layout, x) == halo_product(matrix, x));
            }
        }
    }
}

}  // namespace workbench
