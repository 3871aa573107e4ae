// Row blocks, segments, tiles, and the order of their rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

std::string refusal_of_stage(const StageEntry& stage, const Given& given) {
    try {
        (void)contract_of(stage, given);
    } catch (const ParameterError& error) {
        return error.parameter + ": " + error.what();
    }
    return "(accepted)";
}

StagedMatrix in_segments(std::int64_t width) {
    StagedMatrix staged = stage_input(six_rows());
    pass(staged, column_segmentation_stage(), {{"width", width}});
    return staged;
}

StagedMatrix in_tiles(std::int64_t height, std::int64_t width) {
    StagedMatrix staged = stage_input(six_rows());
    pass(staged, row_blocks_stage(), {{"height", height}});
    pass(staged, column_segmentation_stage(), {{"width", width}});
    return staged;
}

Indices boundaries_after(const StageEntry& stage, const Given& given, Index rows, Index columns, CutKind kind) {
    StagedMatrix staged = stage_input(csr_from_entries(rows, columns, {}));
    pass(staged, stage, given);
    return staged.find_cuts(kind)->boundaries;
}

Indices rows_cut(const Given& given, Index rows) {
    return boundaries_after(row_blocks_stage(), given, rows, 1, CutKind::row_block);
}

Indices columns_cut(const Given& given, Index columns) {
    return boundaries_after(column_segmentation_stage(), given, 1, columns, CutKind::segment);
}

/// The tiles of a matrix, computed entry by entry.
std::vector<Share> naive_tiles(const CsrMatrix& matrix, const Cuts& blocks, const Cuts& segments) {
    const Indices block_of = blocks.pieces();
    const Indices segment_of = segments.pieces();
    std::map<std::pair<Index, Index>, Share> tiles;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset entry = matrix.row_offsets[row]; entry < matrix.row_offsets[row + 1]; ++entry) {
            const std::pair place(block_of[row], segment_of[matrix.column_indices[entry]]);
            Share& share = tiles[place];
            share.id = {ShareKind::tile, place.first, place.second};
            if (share.rows.empty() || share.rows.back() != row) {
                share.rows.push_back(row);
                share.row_offsets.push_back(share.row_offsets.back());
            }
            ++share.row_offsets.back();
            share.entries.push_back(entry);
        }
    }
    std::vector<Share> shares;
    for (auto& [place, share] : tiles) shares.push_back(share);
    return shares;
}

}  // namespace

TEST_SUITE("row_blocks") {
    TEST_CASE("by height, the last block may be smaller; by count, blocks differ by at most one row") {
        CHECK(rows_cut({{"height", 4_i}}, 10) == Indices{0, 4, 8, 10});
        CHECK(rows_cut({{"height", 5_i}}, 10) == Indices{0, 5, 10});
        CHECK(rows_cut({{"height", 2147483647_i}}, 10) == Indices{0, 10});
        CHECK(rows_cut({{"count", 3_i}}, 10) == Indices{0, 3, 6, 10});
        CHECK(rows_cut({{"count", 1_i}}, 10) == Indices{0, 10});
        CHECK(rows_cut({{"count", 2147483647_i}}, 3) == Indices{0, 1, 2, 3});
        CHECK(rows_cut({{"height", 4_i}}, 0) == Indices{0});
        CHECK(rows_cut({{"count", 4_i}}, 0) == Indices{0});
    }

    TEST_CASE("needs height or count, and an unsplit matrix") {
        CHECK(refusal_of_stage(row_blocks_stage(), {}) == "height: found none, expected one of height or count");
        CHECK(refusal_of_stage(row_blocks_stage(), {{"height", 4_i}, {"count", 4_i}}) ==
              "count: found count beside height, expected only one of height or count");
        const StageContract facts = contract_of(row_blocks_stage(), {{"height", 4_i}});
        CHECK(facts.needs.unsplit);
        CHECK(facts.gives_cuts == std::vector{CutKind::row_block});
        CHECK_FALSE(facts.acts);
    }
}

TEST_SUITE("column_sort") {
    TEST_CASE("densest or sparsest columns first; ties keep their order") {
        StagedMatrix staged = stage_input(six_rows());
        pass(staged, column_sort_stage(), {});
        CHECK(staged.column_order == Permutation::from_old_of_new({0, 1, 3, 5, 2, 4}));
        CHECK(staged.row_order.is_identity());
        CHECK(staged.matrix.row_columns(4)[2] == 3);  // column 5 of the input
        CHECK(staged.matrix.values[8] == 46);
        StagedMatrix ascending = stage_input(six_rows());
        pass(ascending, column_sort_stage(), {{"order", "ascending"}});
        CHECK(ascending.column_order == Permutation::from_old_of_new({2, 4, 1, 3, 5, 0}));
    }

    TEST_CASE("the columns of a node stay together") {
        StagedMatrix staged = stage_input(six_rows());
        staged.node_size = 2;
        pass(staged, column_sort_stage(), {{"order", "ascending"}});
        CHECK(staged.column_order == Permutation::from_old_of_new({2, 3, 4, 5, 0, 1}));
    }

    TEST_CASE("only a descending order gives columns by density") {
        CHECK(contract_of(column_sort_stage(), {}).gives_columns_by_density);
        CHECK_FALSE(contract_of(column_sort_stage(), {{"order", "ascending"}}).gives_columns_by_density);
        CHECK(contract_of(column_sort_stage(), {}).acts == Acts::columns);
    }
}

TEST_SUITE("column_segmentation") {
    TEST_CASE("uniform segments by width, by count, or to fit a cache") {
        CHECK(columns_cut({{"width", 4_i}}, 10) == Indices{0, 4, 8, 10});
        CHECK(columns_cut({{"count", 4_i}}, 10) == Indices{0, 2, 5, 7, 10});
        CHECK(columns_cut({{"count", 40_i}}, 2) == Indices{0, 1, 2});
        CHECK(columns_cut({{"width", 4_i}}, 0) == Indices{0});
        CHECK(columns_cut({{"fit", "k20x:read_only"}}, 4000) == Indices{0, 1536, 3072, 4000});  // 12 KiB of 8 bytes
        CHECK(columns_cut({{"fit", "k20x:read_only"}, {"value_bytes", 4_i}}, 4000) == Indices{0, 3072, 4000});
        CHECK(columns_cut({{"fit", "k20x:l2"}, {"value_bytes", 4_i}, {"cache_share", 0.25}}, 100000) ==
              Indices{0, 98304, 100000});
    }

    TEST_CASE("non-uniform segments: narrow, wider and wider, and the rest") {
        const Given narrow{{"method", "non_uniform"}, {"segment_count", 2_i}, {"segment_size", 10_i}};
        CHECK(columns_cut(narrow, 100) == Indices{0, 10, 20, 100});
        Given levels = narrow;
        levels["level_widths"] = "20, 30";
        CHECK(columns_cut(levels, 100) == Indices{0, 10, 20, 40, 70, 100});
        CHECK(columns_cut(levels, 50) == Indices{0, 10, 20, 40, 50});
        CHECK(columns_cut(levels, 15) == Indices{0, 10, 15});
        CHECK(columns_cut(levels, 0) == Indices{0});
        levels["segment_count"] = 0_i;
        CHECK(columns_cut(levels, 100) == Indices{0, 20, 50, 100});
    }

    TEST_CASE("level widths must be ascending numbers") {
        const auto refusal = [](const std::string& text) {
            return refusal_of_stage(
                column_segmentation_stage(),
                {{"method", "non_uniform"}, {"segment_count", 2_i}, {"segment_size", 10_i}, {"level_widths", text}});
        };
        const auto refused = [&](const std::string& text) { return refusal(text) != "(accepted)"; };
        CHECK(refusal("8, 20") ==
              "level_widths: found \"8, 20\", expected ascending numbers of columns, the first of them "
              "greater than segment_size = 10");
        for (const char* text : {"11", "20, 30", " 20 ,30 ", "20,2147483647", ""}) CHECK_FALSE(refused(text));
        for (const char* text :
             {"10", "20, 20", "20 30", "20,", ",20", "x", "20, 2147483648", "1e3", "-20", "20,,30", "20, 40, 30"}) {
            CAPTURE(text);
            CHECK(refused(text));
        }
    }

    TEST_CASE("parameters of one method are refused with the other method") {
        CHECK(refusal_of_stage(column_segmentation_stage(), {}) == "width: found none, expected one of width, count or fit");
        CHECK(refusal_of_stage(column_segmentation_stage(), {{"width", 4_i}, {"fit", "k20x:l2"}}) ==
              "fit: found fit beside width, expected only one of width, count or fit");
        CHECK(refusal_of_stage(column_segmentation_stage(), {{"fit", "k20x:l2"}, {"value_bytes", 5_i}}) ==
              "value_bytes: found values of 5 bytes; expected 4 (f32) or 8 (f64)");
        CHECK(refusal_of_stage(column_segmentation_stage(), {{"width", 4_i}, {"segment_size", 4_i}}) ==
              "segment_size: segment_size does not apply to method = \"uniform\"");
        CHECK(refusal_of_stage(column_segmentation_stage(), {{"method", "non_uniform"}, {"segment_size", 4_i}}) ==
              "segment_count: method = \"non_uniform\" needs segment_count");
        CHECK(refusal_of_stage(column_segmentation_stage(), {{"method", "non_uniform"}, {"width", 4_i}}) ==
              "width: width does not apply to method = \"non_uniform\"");
    }

    TEST_CASE("one share per segment, with the rows present in it") {
        const StagedMatrix staged = in_segments(2);
        REQUIRE(staged.shares.size() == 3);
        CHECK(staged.shares[0] == Share{{.kind = ShareKind::segment, .segment = 0}, {0, 1, 4}, {0, 1, 3, 5}, {0, 1, 2, 6, 7}});
        CHECK(staged.shares[1] == Share{{.kind = ShareKind::segment, .segment = 1}, {3, 5}, {0, 2, 3}, {4, 5, 10}});
        CHECK(staged.shares[2] == Share{{.kind = ShareKind::segment, .segment = 2}, {1, 4}, {0, 1, 3}, {3, 8, 9}});
    }

    TEST_CASE("tiny tiles are refused before they exhaust the memory") {
        constexpr Index size = 1 << 20;
        std::vector<Entry> diagonal;
        for (Index i = 0; i < size; ++i) diagonal.push_back({i, i, 1});
        StagedMatrix staged = stage_input(csr_from_entries(size, size, diagonal));
        const FreeMemory memory(32 * mebibyte);
        const std::string message = message_of<Unsuitable>([&] {
            (void)pass(staged, column_segmentation_stage(), {{"width", 1_i}});
        });
        CHECK(message.find("more than ") == 0);
        CHECK(message.find("wider segments or higher row blocks make fewer tiles") != std::string::npos);
    }

    TEST_CASE("one share per tile with nonzeros") {
        const StagedMatrix staged = in_tiles(3, 2);
        REQUIRE(staged.shares.size() == 5);
        CHECK(staged.shares[0] == Share{{ShareKind::tile, 0, 0}, {0, 1}, {0, 1, 3}, {0, 1, 2}});
        CHECK(staged.shares[1] == Share{{ShareKind::tile, 0, 2}, {1}, {0, 1}, {3}});
        CHECK(staged.shares[2] == Share{{ShareKind::tile, 1, 0}, {4}, {0, 2}, {6, 7}});
        CHECK(staged.shares[3] == Share{{ShareKind::tile, 1, 1}, {3, 5}, {0, 2, 3}, {4, 5, 10}});
        CHECK(staged.shares[4] == Share{{ShareKind::tile, 1, 2}, {4}, {0, 2}, {8, 9}});
    }

    TEST_CASE("row blocks with several chunks give the same tiles as entry by entry") {
        std::uint64_t drawn = 0;
        const auto below = [&drawn](std::uint64_t bound) { return static_cast<Index>(mixed(++drawn) % bound); };
        std::vector<Entry> entries;
        for (Index row = 0; row < 900; ++row) {
            const Index length = row == 17 ? 20000 : below(300);
            for (Index k = 0; k < length; ++k) entries.push_back({row, below(70000), 1.0});
        }
        const CsrMatrix matrix = csr_from_entries(900, 70000, entries);
        REQUIRE(matrix.nonzeros() > 2 * 65536);
        StagedMatrix staged = stage_input(matrix);
        pass(staged, row_blocks_stage(), {{"count", 2_i}});
        pass(staged, column_segmentation_stage(), {{"width", 9999_i}});
        check_invariants(staged, matrix);
        const std::vector<Share> expected =
            naive_tiles(matrix, {CutKind::row_block, {0, 450, 900}},
                        {CutKind::segment, {0, 9999, 19998, 29997, 39996, 49995, 59994, 69993, 70000}});
        CHECK(staged.shares == expected);
    }

    TEST_CASE("contract and notes") {
        const StageContract facts = contract_of(column_segmentation_stage(), {{"width", 4_i}});
        REQUIRE(facts.gives_shares.size() == 2);
        CHECK(facts.gives_shares[0].kind == ShareKind::tile);
        CHECK(facts.gives_shares[0].only_with == CutKind::row_block);
        CHECK(facts.gives_shares[1].kind == ShareKind::segment);
        CHECK(facts.gives_shares[1].only_without == CutKind::row_block);
        CHECK(facts.gives_cuts == std::vector{CutKind::segment});
        const auto most = [](const StageEntry& stage, const Given& given, CutKind kind) {
            const auto known = contract_of(stage, given).most_pieces;
            return known.contains(kind) ? known.at(kind) : -1;
        };
        CHECK(most(column_segmentation_stage(), {{"width", 4_i}}, CutKind::segment) == -1);
        CHECK(most(column_segmentation_stage(), {{"count", 4_i}}, CutKind::segment) == 4);
        CHECK(most(row_blocks_stage(), {{"height", 4_i}}, CutKind::row_block) == -1);
        CHECK(most(row_blocks_stage(), {{"count", 5_i}}, CutKind::row_block) == 5);
        const Given levels{{"method", "non_uniform"}, {"segment_count", 3_i}, {"segment_size", 1_i}, {"level_widths", "2, 4"}};
        CHECK(most(column_segmentation_stage(), levels, CutKind::segment) == 6);
        CHECK(columns_cut(levels, 100) == Indices{0, 1, 2, 3, 5, 9, 100});
        const Given fits{{"fit", "k20x:l2"}};
        const Given fits_f32{{"fit", "k20x:l2"}, {"value_bytes", 4_i}};
        CHECK(contract_of(column_segmentation_stage(), fits).depends_on_precision);
        CHECK_FALSE(contract_of(column_segmentation_stage(), fits_f32).depends_on_precision);
        CHECK_FALSE(facts.depends_on_precision);
        CHECK_FALSE(facts.needs.columns_by_density);
        CHECK(
            contract_of(column_segmentation_stage(), {{"method", "non_uniform"}, {"segment_count", 1_i}, {"segment_size", 1_i}})
                .needs.columns_by_density);
        StagedMatrix staged = stage_input(six_rows());
        pass(staged, row_blocks_stage(), {{"height", 3_i}});
        const StageResult result = pass(staged, column_segmentation_stage(), {{"width", 4_i}});
        CHECK(result.notes == std::vector<std::pair<std::string, std::string>>{{"segments", "2"},
                                                                               {"width", "2 to 4 columns"},
                                                                               {"tiles with nonzeros", "4 of 4"},
                                                                               {"rows present, all shares together", "7"}});
    }
}

TEST_SUITE("row_sort within tiles") {
    TEST_CASE("every share by its own lengths; ties keep their order") {
        StagedMatrix staged = in_segments(3);
        REQUIRE(staged.shares[0] ==
                Share{{.kind = ShareKind::segment, .segment = 0}, {0, 1, 3, 4}, {0, 1, 3, 4, 6}, {0, 1, 2, 4, 6, 7}});
        pass(staged, row_sort_stage(), {{"within", "segment"}});
        CHECK(staged.shares[0] ==
              Share{{.kind = ShareKind::segment, .segment = 0}, {1, 4, 0, 3}, {0, 2, 4, 5, 6}, {1, 2, 6, 7, 0, 4}});
        CHECK(staged.shares[1] ==
              Share{{.kind = ShareKind::segment, .segment = 1}, {4, 1, 3, 5}, {0, 2, 3, 4, 5}, {8, 9, 3, 5, 10}});
        CHECK(staged.row_order.is_identity());
    }

    TEST_CASE("ascending, and within windows of the rows present") {
        StagedMatrix staged = in_segments(3);
        pass(staged, row_sort_stage(), {{"within", "segment"}, {"window", 3_i}, {"order", "descending"}});
        CHECK(staged.shares[0].rows == Indices{1, 0, 3, 4});
        pass(staged, row_sort_stage(), {{"within", "segment"}, {"order", "ascending"}});
        CHECK(staged.shares[0].rows == Indices{0, 3, 1, 4});
        StagedMatrix tiles = in_tiles(4, 6);
        pass(tiles, row_sort_stage(), {{"within", "tile"}});
        CHECK(tiles.shares[0].rows == Indices{1, 3, 0});
        CHECK(tiles.shares[1].rows == Indices{4, 5});
    }

    TEST_CASE("one share, or all shares of a kind") {
        const auto stored = [](const StagedMatrix& staged) {
            std::vector<Indices> rows;
            for (const Share& share : staged.shares) rows.emplace_back(share.rows.begin(), share.rows.end());
            return rows;
        };
        const std::vector<Indices> unsorted = stored(in_tiles(4, 3));
        REQUIRE(unsorted == std::vector<Indices>{{0, 1, 3}, {1, 3}, {4}, {4, 5}});
        const auto sorted = [&](const std::string& share, const Given& more = {}) {
            Given given = more;
            given.emplace("share", share);
            StagedMatrix staged = in_tiles(4, 3);
            pass(staged, row_sort_stage(), given);
            CHECK(staged.row_order.is_identity());
            return stored(staged);
        };
        CHECK(sorted("tile 0,0") == std::vector<Indices>{{1, 0, 3}, {1, 3}, {4}, {4, 5}});
        CHECK(sorted("tile 1,1", {{"order", "ascending"}}) == std::vector<Indices>{{0, 1, 3}, {1, 3}, {4}, {5, 4}});
        CHECK(sorted("tile") == std::vector<Indices>{{1, 0, 3}, {1, 3}, {4}, {4, 5}});
        CHECK(sorted("tile", {{"order", "ascending"}}) == std::vector<Indices>{{0, 3, 1}, {1, 3}, {4}, {5, 4}});
        CHECK(sorted("tile", {{"within", "window"}, {"window", 1_i}}) == unsorted);
        CHECK(contract_of(row_sort_stage(), {{"share", "tile 1,0"}}).needs.shares ==
              std::vector<ShareChoice>{{ShareKind::tile, ShareId{ShareKind::tile, 1, 0}}});

        StagedMatrix segments = in_segments(3);
        pass(segments, row_sort_stage(), {{"share", "segment 1"}});
        CHECK(stored(segments) == std::vector<Indices>{{0, 1, 3, 4}, {4, 1, 3, 5}});
    }

    TEST_CASE("a share that does not exist") {
        const auto message = [](const std::string& share) {
            StagedMatrix staged = in_tiles(3, 2);
            return message_of<Unsuitable>([&] { (void)pass(staged, row_sort_stage(), {{"share", share}}); });
        };
        CHECK(message("tile 0,1") ==
              "there is no share 'tile 0,1' among 2 x 3 tiles, counted from 0; tiles without nonzeros have no share");
        CHECK(message("tile 2,0").find("there is no share 'tile 2,0'") == 0);
        StagedMatrix staged = in_segments(3);
        CHECK(message_of<Unsuitable>([&] {
                  (void)pass(staged, row_sort_stage(), {{"share", "segment 2"}});
              }) == "there is no share 'segment 2' among 2 segments, counted from 0; segments without nonzeros have no share");
        // A matrix without nonzeros has no tiles, and nothing to sort.
        StagedMatrix nothing = stage_input(csr_from_entries(4, 4, {}));
        pass(nothing, row_blocks_stage(), {{"height", 2_i}});
        pass(nothing, column_segmentation_stage(), {{"width", 2_i}});
        CHECK_NOTHROW((void)pass(nothing, row_sort_stage(), {{"share", "tile"}}));
    }

    TEST_CASE("contract") {
        const StageContract tile = contract_of(row_sort_stage(), {{"within", "tile"}});
        CHECK(tile.needs.cuts == std::vector{CutKind::row_block, CutKind::segment});
        CHECK(tile.needs.shares == std::vector<ShareChoice>{{ShareKind::tile}});
        CHECK_FALSE(tile.needs.square);
        CHECK_FALSE(tile.acts);
        CHECK(contract_of(row_sort_stage(), {{"within", "segment"}}).needs.cuts == std::vector{CutKind::segment});
    }

    TEST_CASE("refuses parameters of an order of the matrix") {
        CHECK(refusal_of_stage(row_sort_stage(), {{"within", "tile"}, {"apply", "rows"}}) ==
              "apply: within = \"tile\" sorts the storage of every tile, without apply");
        CHECK(refusal_of_stage(row_sort_stage(), {{"within", "segment"}, {"share", "segment 0"}}) ==
              "share: within = \"segment\" sorts the storage of every segment, without share");
        CHECK(refusal_of_stage(row_sort_stage(), {{"within", "tile"}, {"key", "nonzeros_inside_partition"}}) ==
              "key: within = \"tile\" sorts by the nonzeros of a row in the tile, expected another key");
    }
}

TEST_CASE("tiles of the battery keep the invariants") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        StagedMatrix staged = stage_input(named.matrix);
        pass(staged, column_sort_stage(), {});
        check_invariants(staged, named.matrix);
        pass(staged, row_blocks_stage(), {{"count", 3_i}});
        pass(staged, column_segmentation_stage(),
             {{"method", "non_uniform"}, {"segment_count", 3_i}, {"segment_size", 2_i}, {"level_widths", "5"}});
        check_invariants(staged, named.matrix);
        CHECK(std::is_sorted(staged.shares.begin(), staged.shares.end(), [&](const Share& a, const Share& b) {
            return std::pair(a.id.row_block, a.id.segment) < std::pair(b.id.row_block, b.id.segment);
        }));
        pass(staged, row_sort_stage(), {{"within", "tile"}});
        check_invariants(staged, named.matrix);
    }
}

}  // namespace workbench
