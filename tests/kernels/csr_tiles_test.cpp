// How the CUDA kernels `adaptive` and `merge` of layout csr distribute the rows: tiles, and shares of the merge path.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "kernels/formats/csr/adaptive.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"
#include "kernels/reads.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

HostArray<Offset> offsets_of(const HostArray<Offset>& lengths) {
    HostArray<Offset> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
}

HostArray<Offset> repeated(std::size_t count, Offset length) {
    HostArray<Offset> lengths(count, length);
    return lengths;
}

HostArray<Offset> after(HostArray<Offset> first, const HostArray<Offset>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// The tiles of whole rows, found one after another: a tile ends before a row that does not fit into a round, or that a lane
/// would add up alone for long, and with one lane a row once half of the places are taken.
std::vector<RowTile> tiles_in_turn(const HostArray<Offset>& offsets, int capacity, const TileLimits& limits) {
    std::vector<RowTile> tiles;
    const auto rows = static_cast<Index>(offsets.size()) - 1;
    for (Index row = 0; row < rows;) {
        const Offset begin = aligned_down(offsets[row]);
        Index end = row + 1;
        if (offsets[end] - offsets[row] > std::min<Offset>(1024, limits.rounds * capacity)) {
            row = end;
            continue;
        }
        const auto fits = [&](Index last) {
            Offset longest = 0;
            for (Index i = row; i <= last; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
            return offsets[last + 1] - begin <= capacity && longest <= 32 * lanes_of_rows(last + 1 - row);
        };
        const auto is_half_full = [&] { return (end - row) % 32 == 0 && 2 * (offsets[end] - begin) > capacity; };
        while (end < rows && end - row < limits.rows && !is_half_full() && fits(end)) ++end;
        tiles.push_back({.first = offsets[row],
                         .row = row,
                         .nonzeros = static_cast<std::uint16_t>(offsets[end] - offsets[row]),
                         .rows = static_cast<std::uint16_t>(end - row)});
        row = end;
    }
    return tiles;
}

/// Checks that the tiles contain each row once, whole or in consecutive parts, and that exactly one of them writes it.
void check_tiles(const HostArray<Offset>& lengths, int capacity) {
    const HostArray<Offset> offsets = offsets_of(lengths);
    const RowTiles<HostArray> all = cut_into_tiles(offsets, capacity);
    const std::size_t shared_tiles = all.split_of_block.size() * adaptive_warps;
    REQUIRE(all.tiles.size() >= shared_tiles);
    const std::vector<RowTile> whole(all.tiles.begin() + static_cast<std::ptrdiff_t>(shared_tiles), all.tiles.end());
    CHECK(whole == tiles_in_turn(offsets, capacity, {}));

    HostArray<Offset> reached(offsets.begin(), offsets.end() - 1);  // where the next part of each row begins
    std::vector<int> written(lengths.size(), 0);
    for (std::size_t i = 0; i < all.tiles.size(); ++i) {
        const RowTile& tile = all.tiles[i];
        REQUIRE(tile.rows >= 1);
        REQUIRE(tile.first == reached[tile.row]);
        Offset begin = tile.first;
        const Offset end = begin + tile.nonzeros;
        if (i < shared_tiles) {
            CHECK(tile.rows == 1);
            CHECK(tile.nonzeros <= 2 * capacity + 2 * tile_alignment);
            CHECK(tile.row == all.tiles[i / adaptive_warps * adaptive_warps].row);
            reached[tile.row] = end;
            continue;
        }
        if (tile.rows > 1) CHECK(end - aligned_down(begin) <= capacity);
        for (Index row = tile.row; row < tile.row + tile.rows; ++row) {
            begin += lengths[row];
            reached[row] = begin;
            ++written[row];
        }
        CHECK(begin == end);
    }

    for (std::size_t block = 0; block < all.split_of_block.size(); ++block) {
        const Index row = all.tiles[block * adaptive_warps].row;
        const Index number = all.split_of_block[block];
        if (number < 0) {
            ++written[row];
            continue;
        }
        REQUIRE(number < static_cast<Index>(all.split_rows.size()));
        const SplitRow& split = all.split_rows[number];
        CHECK(split.row == row);
        CHECK(split.blocks > 1);
        const auto of_row = static_cast<Index>(block) - split.first_block;
        REQUIRE((of_row >= 0 && of_row < split.blocks));
        if (of_row == split.blocks - 1) ++written[row];
    }
    CHECK(std::equal(reached.begin(), reached.end(), offsets.begin() + 1));
    CHECK(std::count(written.begin(), written.end(), 1) == static_cast<std::ptrdiff_t>(lengths.size()));
}

RowTile tile(Offset first, Index row, int nonzeros, int rows) {
    return {first, row, static_cast<std::uint16_t>(nonzeros), static_cast<std::uint16_t>(rows)};
}

using Tiles = std::vector<RowTile>;

/// Walks the merge path. Returns the number of row ends before each step.
HostArray<Index> rows_before_steps(const HostArray<Offset>& offsets) {
    HostArray<Index> before{0};
    Offset nonzero = 0;
    Index row = 0;
    const auto rows = static_cast<Index>(offsets.size() - 1);
    while (row < rows || nonzero < offsets.back()) {
        nonzero < offsets[row + 1] ? ++nonzero : ++row;
        before.push_back(row);
    }
    return before;
}

/// Searches as the lanes of a warp do together.
Index searched_by(int probes, const HostArray<Offset>& offsets, Offset steps) {
    SearchRange range{0, static_cast<Index>(offsets.size() - 1)};
    while (!range.done()) {
        int before = 0;
        bool still = true;
        for (int i = 0; i < probes; ++i) {
            const Index row = range.probe(i, probes);
            REQUIRE(row >= range.begin);
            REQUIRE(row < range.end);
            const bool ends = ends_before(offsets[row + 1], row, steps);
            CHECK((still || !ends));
            still = ends;
            before += ends ? 1 : 0;
        }
        const SearchRange next = range.narrowed(before, probes);
        REQUIRE(next.end - next.begin < range.end - range.begin);
        range = next;
    }
    return range.begin;
}

const std::vector<HostArray<Offset>>& kinds_of_rows() {
    static const std::vector<HostArray<Offset>> kinds{
        {},
        {0},
        {1},
        repeated(1000, 0),
        repeated(777, 3),
        repeated(300, 45),
        repeated(5, 257),
        {46217},
        {8192, 8193, 1024, 1025},
        after(after(repeated(100, 2), {20000}), repeated(100, 2)),
        after(after(repeated(600, 0), {1025}), after(repeated(600, 0), {3, 0, 0, 5000, 7})),
        {250, 3, 3, 3, 3, 3, 3, 3, 3, 250, 1, 0, 900, 0, 90, 90, 90, 90},
        after(repeated(31, 9), {200}),
    };
    return kinds;
}

}  // namespace

TEST_CASE("csr tiles: every row is in one tile or in consecutive ones, and is written once") {
    for (const int capacity : {128, 256, 512, 1024}) {
        CAPTURE(capacity);
        for (const HostArray<Offset>& lengths : kinds_of_rows()) check_tiles(lengths, capacity);
        for (const NamedMatrix& named : battery()) {
            CAPTURE(named.name);
            HostArray<Offset> lengths(named.matrix.rows);
            for (Index row = 0; row < named.matrix.rows; ++row) lengths[row] = named.matrix.row_length(row);
            check_tiles(lengths, capacity);
        }
    }
}

TEST_CASE("csr tiles: many rows are cut in parallel as one after another") {
    std::uint32_t random = 1;
    const auto below = [&random](std::uint32_t limit) {
        random = random * 1664525U + 1013904223U;
        return (random >> 8) % limit;
    };
    for (const std::uint32_t most : {1U, 4U, 12U, 40U, 90U, 700U}) {
        for (const std::uint32_t alike : {1U, 3U, 5000U}) {  // neighbouring rows of one length
            HostArray<Offset> lengths(40'000);
            for (std::size_t i = 0; i < lengths.size(); ++i) {
                lengths[i] = i % alike == 0 ? Offset{below(most + 1)} : lengths[i - 1];
                if (below(3000) == 0) lengths[i] = 1500;
            }
            const HostArray<Offset> offsets = offsets_of(lengths);
            for (const TileLimits& limits : {TileLimits{}, PatternTileShape::limits}) {
                for (const int capacity : {128, 256, 512}) {
                    const RowTiles<HostArray> all = cut_into_tiles(offsets, capacity, limits);
                    const auto shared = static_cast<std::ptrdiff_t>(all.split_of_block.size() * adaptive_warps);
                    CHECK(std::vector<RowTile>(all.tiles.begin() + shared, all.tiles.end()) ==
                          tiles_in_turn(offsets, capacity, limits));
                }
            }
        }
    }
}

TEST_CASE("csr tiles: the rows of a tile") {
    const auto tiles_of = [](const HostArray<Offset>& lengths) { return cut_into_tiles(offsets_of(lengths), 256).tiles; };
    CHECK(tiles_of({}).empty());
    CHECK(tiles_of(repeated(8, 64)) == Tiles{tile(0, 0, 256, 4), tile(256, 4, 256, 4)});
    // Loads begin at a multiple of 8: nonzero 255 is preceded by 7 nonzeros of the previous tile.
    CHECK(tiles_of(after({255}, repeated(5, 50))) == Tiles{tile(0, 0, 255, 1), tile(255, 1, 200, 4), tile(455, 5, 50, 1)});
    // Tiles with one lane per row end once half of the places are taken; rows without nonzeros end at 256.
    CHECK(tiles_of(repeated(33, 5)) == Tiles{tile(0, 0, 160, 32), tile(160, 32, 5, 1)});
    CHECK(tiles_of(repeated(65, 3)) == Tiles{tile(0, 0, 192, 64), tile(192, 64, 3, 1)});
    CHECK(tiles_of(repeated(257, 0)) == Tiles{tile(0, 0, 0, 256), tile(0, 256, 0, 1)});
    // With one lane per row, one lane would add up 33 nonzeros.
    CHECK(tiles_of(after(repeated(16, 1), {33})) == Tiles{tile(0, 0, 16, 16), tile(16, 16, 33, 1)});
    CHECK(tiles_of(after(repeated(16, 1), {32})) == Tiles{tile(0, 0, 48, 17)});
    CHECK(tiles_of(after({33}, repeated(16, 1))) == Tiles{tile(0, 0, 48, 16), tile(48, 16, 1, 1)});
    CHECK(tiles_of({1024}) == Tiles{tile(0, 0, 1024, 1)});
}

TEST_CASE("csr tiles: a long row has a block, a longer one several, before all other tiles") {
    const RowTiles<HostArray> block = cut_into_tiles(offsets_of({3, 1025, 4}), 256);
    CHECK(block.tiles == Tiles{tile(3, 1, 125, 1), tile(128, 1, 128, 1), tile(256, 1, 128, 1), tile(384, 1, 128, 1),
                               tile(512, 1, 128, 1), tile(640, 1, 128, 1), tile(768, 1, 128, 1), tile(896, 1, 132, 1),
                               tile(0, 0, 3, 1), tile(1028, 2, 4, 1)});
    CHECK(block.split_of_block == HostArray<Index>{-1});
    CHECK(block.split_rows.empty());

    const RowTiles<HostArray> blocks = cut_into_tiles(offsets_of({8193, 0, 2000, 16385}), 256);
    CHECK(blocks.tiles.size() == 9 * adaptive_warps + 1);
    CHECK(blocks.split_of_block == HostArray<Index>{0, 0, 0, -1, 1, 1, 1, 1, 1});
    CHECK(blocks.split_rows == std::vector<SplitRow>{{0, 0, 3}, {3, 4, 5}});
    CHECK(blocks.tiles.back() == tile(8193, 1, 0, 1));
    CHECK(bytes_of_tiles(blocks, 8) == 73 * 16 + 9 * 4 + 2 * 12 + 2 * 8 * 8);

    // With small tiles, an unshared row has at most four rounds of a warp, and a shared row two.
    const RowTiles<HostArray> small = cut_into_tiles(offsets_of({512, 513, 2049}), 128);
    CHECK(small.split_of_block == HostArray<Index>{-1, 0, 0});
    CHECK(small.split_rows == std::vector<SplitRow>{{2, 1, 2}});
    CHECK(small.tiles.back() == tile(0, 0, 512, 1));

    // Without values, a tile has fewer rows, and a row of three rounds is shared.
    const RowTiles<HostArray> pattern =
        cut_into_tiles(offsets_of(after({513}, repeated(65, 1))), 256, PatternTileShape::limits);
    CHECK(pattern.split_of_block == HostArray<Index>{-1});
    CHECK(pattern.tiles.size() == adaptive_warps + 2);
    CHECK(pattern.tiles[adaptive_warps] == tile(513, 1, 64, 64));
}

TEST_CASE_TEMPLATE("csr tiles: short rows get small tiles, long rows with consecutive columns large ones", Value, float,
                   double) {
    struct Columns {
        Index row_count = 0;
        std::vector<Value> values;
        HostArray<Index> column_indices;
    };
    // A matrix whose columns are consecutive in runs of the given length.
    const auto shape = [](Index rows, Index nonzeros, Index run) {
        Columns csr{rows, std::vector<Value>(nonzeros), HostArray<Index>(nonzeros)};
        for (Index i = 0; i < nonzeros; ++i) csr.column_indices[i] = i / run * 2 * run + i % run;
        return with_tile_shape(csr, []<typename Shape>(Shape) { return std::pair(Shape::capacity, Shape::resident_blocks); });
    };
    constexpr bool is_double = sizeof(Value) == 8;
    const std::pair small{128, 6};
    const std::pair scattered{256, is_double ? 5 : 6};
    const std::pair runs{512, is_double ? 3 : 4};
    CHECK(shape(0, 0, 3) == scattered);
    CHECK(shape(100, 0, 3) == small);
    CHECK(shape(100, 599, 3) == small);
    CHECK(shape(100, 600, 3) == scattered);
    CHECK(shape(100, 1599, 3) == scattered);
    CHECK(shape(100, 1600, 3) == runs);
    CHECK(shape(100, 1600, 2) == scattered);
    CHECK(shape(100, 1600, 1) == scattered);
}

TEST_CASE("csr tiles: each lane of the kernel adaptive reads two adjacent nonzeros") {
    std::vector<Entry> entries;
    for (Index column = 0; column < 70; ++column) entries.push_back({1, column, 1});
    const auto csr = build(csr_entry(), stage_input(csr_from_entries(3, 70, entries)));
    for_each_read_of<double>(csr_entry(), "adaptive", *csr, [](const Read& read) {
        CHECK(read.warp == 0);
        CHECK(read.lane == read.index % 64 / 2);
        CHECK(read.step == read.index / 64 * 2 + read.index % 2);
    });
}

TEST_CASE("csr tiles: lanes of rows") {
    for (int rows = 1; rows <= 300; ++rows) {
        const int lanes = lanes_of_rows(rows);
        CHECK((lanes & (lanes - 1)) == 0);
        CHECK((lanes == 1 || lanes * rows <= 32));
        CHECK((lanes == 32 || 2 * lanes * rows > 32));
    }
}

TEST_CASE("csr tiles: the path of the 6 x 6 matrix") {
    const HostArray<Offset> offsets{0, 3, 6, 7, 9, 12, 13};
    std::string rows;
    for (Offset steps = 0; steps <= 19; ++steps) {
        rows += std::to_string(merge_path_search(offsets.data() + 1, 6, steps));
    }
    CHECK(rows == "00001111223334444556");
}

TEST_CASE("csr tiles: searching the merge path equals walking it, for one lane and for a warp") {
    const auto check = [](const HostArray<Offset>& offsets) {
        const HostArray<Index> before = rows_before_steps(offsets);
        const auto rows = static_cast<Index>(offsets.size() - 1);
        const Offset stride = std::max<Offset>(1, static_cast<Offset>(before.size()) / 997);
        for (Offset steps = 0; steps < static_cast<Offset>(before.size()); steps += stride) {
            CAPTURE(steps);
            CHECK(merge_path_search(offsets.data() + 1, rows, steps) == before[steps]);
            for (const int probes : {1, 3, 32}) CHECK(searched_by(probes, offsets, steps) == before[steps]);
        }
    };
    for (const HostArray<Offset>& lengths : kinds_of_rows()) check(offsets_of(lengths));
    for (const NamedMatrix& named : battery()) check(named.matrix.row_offsets);
}

TEST_CASE("csr tiles: the first row of each block's share") {
    using Shape = MergeShape<2, 3, 1>;
    const auto first_rows = [](const HostArray<Offset>& offsets) {
        const MergeShares shares{static_cast<Index>(offsets.size() - 1), offsets.back(), Shape::size};
        CHECK(shares.begin(0) == 0);
        CHECK(shares.begin(shares.count()) == shares.rows + shares.nonzeros);
        HostArray<Index> rows;
        for (Offset share = 0; share <= shares.count(); ++share) rows.push_back(shares.first_row(offsets.data() + 1, share));
        return rows;
    };
    CHECK(first_rows({0}) == HostArray<Index>{0});
    CHECK(first_rows({0, 5}) == HostArray<Index>{0, 1});
    CHECK(first_rows({0, 6}) == HostArray<Index>{0, 0, 1});
    CHECK(first_rows({0, 3, 6, 7, 9, 12, 13}) == HostArray<Index>{0, 1, 3, 5, 6});
}

TEST_CASE("csr tiles: groups of threads share the vectors, and fit into shared memory") {
    for (int vectors = 1; vectors <= 64; ++vectors) {
        for (const int bytes : {4, 8}) {
            CAPTURE(vectors);
            CAPTURE(bytes);
            const MergeGroups shape = merge_groups(vectors, bytes);
            const VectorTiles& tiles = shape.vectors;
            CHECK(tiles.packet * tiles.packets == vectors);
            CHECK(tiles.own * tiles.parts >= tiles.packets);
            CHECK((tiles.own - 1) * tiles.parts < tiles.packets);  // the first part has all of its packets
            CHECK(32 % tiles.parts == 0);                          // a group is in one warp
            CHECK(shape.groups() * tiles.parts == shape.threads);
            CHECK(shape.steps % 2 == 1);
            CHECK(shape.loads() * shape.threads >= shape.size());
            const int nonzeros = shape.loads() * shape.threads * (bytes + 4);
            const int sums = shape.threads / 32 * (tiles.parts * tiles.own * tiles.packet * bytes + 1);
            const int dictionary = 256 * bytes;
            CHECK(nonzeros + 4 * (shape.size() + shape.groups() + 1) + sums + dictionary + 64 <= 48 * 1024);
            for (const int count : {1, shape.steps, shape.size() - 1, shape.size()}) {
                CHECK(shape.begin(0, count) == 0);
                CHECK(shape.begin(shape.groups(), count) == count);
            }
        }
    }
}

TEST_CASE("csr tiles: the search supports more than 2^32 steps") {
    const HostArray<Offset> offsets{0, Offset{5} << 31, Offset{6} << 31, Offset{6} << 31};
    CHECK(merge_path_search(offsets.data() + 1, 3, (Offset{5} << 31)) == 0);
    CHECK(merge_path_search(offsets.data() + 1, 3, (Offset{5} << 31) + 1) == 1);
    CHECK(merge_path_search(offsets.data() + 1, 3, (Offset{6} << 31) + 3) == 3);
    CHECK(searched_by(32, offsets, (Offset{6} << 31) + 2) == 2);
}

}  // namespace workbench
