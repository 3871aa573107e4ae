// Pictures of tiles: rows are drawn where their tile stores them, and profiles show the effect of their order.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/matrix/battery.hpp"
#include "support/drawn_texts.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/encode.hpp"
#include "viz/flow_picture.hpp"
#include "viz/golden_picture.hpp"
#include "viz/pattern_view.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"
#include "viz/tile_profile.hpp"

namespace workbench {
namespace {

using Offsets = std::vector<Offset>;
using Indices = std::vector<Index>;

std::vector<Index> cut_every(Index length, Index size) {
    Indices boundaries{0};
    while (boundaries.back() < length) boundaries.push_back(std::min(length, boundaries.back() + size));
    return boundaries;
}

/// Cuts the matrix into tiles, or into segments if the height is 0. by_length: sorts the rows of each tile by ascending length.
StagedMatrix tiled(const CsrMatrix& matrix, Index height, Index width, bool by_length) {
    StagedMatrix staged = stage_input(matrix);
    const Cuts blocks{CutKind::row_block, cut_every(matrix.rows, height == 0 ? std::max(matrix.rows, 1) : height)};
    const Cuts segments{CutKind::segment, cut_every(matrix.columns, width)};
    std::map<std::pair<Index, Index>, std::map<Index, Offsets>> tiles;  // of each tile: row -> entries
    const Indices block_of = blocks.pieces();
    const Indices segment_of = segments.pieces();
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            tiles[{block_of[row], segment_of[matrix.column_indices[k]]}][row].push_back(k);
        }
    }
    for (const auto& [place, rows] : tiles) {
        std::vector<std::pair<Index, Offsets>> order(rows.begin(), rows.end());
        const auto shorter = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
        if (by_length) std::stable_sort(order.begin(), order.end(), shorter);
        Share share{{height == 0 ? ShareKind::segment : ShareKind::tile, place.first, place.second}, {}, {0}, {}};
        for (const auto& [row, entries] : order) {
            share.rows.push_back(row);
            share.entries.insert(share.entries.end(), entries.begin(), entries.end());
            share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
        }
        staged.shares.push_back(share);
    }
    if (height > 0) staged.cuts.push_back(blocks);
    staged.cuts.push_back(segments);
    check_invariants(staged, matrix);
    return staged;
}

/// An unsymmetric matrix with different row lengths.
CsrMatrix uneven(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        const Index length = 1 + static_cast<Index>(std::int64_t{row} * 7919 % 13) * (row % 5 == 0 ? 4 : 1);
        for (Index k = 0; k < length; ++k) {
            entries.push_back(
                {row, static_cast<Index>((std::int64_t{row} * 31 + std::int64_t{k} * k * 17) % columns), 1.0 + k});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

// The matrix of the layouts' examples.
CsrMatrix example() {
    const std::vector<Entry> entries{{0, 0, 1}, {0, 1, 2}, {0, 2, 3},  {1, 1, 4},  {1, 2, 5},  {1, 4, 6}, {2, 2, 7},
                                     {3, 3, 8}, {3, 5, 9}, {4, 0, 10}, {4, 4, 11}, {4, 5, 12}, {5, 5, 13}};
    return csr_from_entries(6, 6, entries);
}

/// Compares the raster with counts of single entries.
void check_against_definition(const StagedMatrix& staged, int resolution) {
    const CsrMatrix& matrix = staged.matrix;
    const PatternRaster raster = rasterise(staged, resolution);
    const Cuts* blocks = staged.find_cuts(CutKind::row_block);
    Offsets plane(raster.planes[0].size(), 0);
    Offsets longest(raster.row_bins(), 0);
    Offsets rows(raster.row_bins(), 0);
    for (const Share& share : staged.shares) {
        for (std::size_t i = 0; i < share.rows.size(); ++i) {
            const Index top = blocks == nullptr ? 0 : blocks->begin(blocks->pieces()[share.rows[i]]);
            const std::int64_t bin = (std::int64_t{top} + static_cast<Index>(i)) * raster.row_bins() / matrix.rows;
            ++rows[bin];
            longest[bin] = std::max(longest[bin], share.row_offsets[i + 1] - share.row_offsets[i]);
            for (Offset k = share.row_offsets[i]; k < share.row_offsets[i + 1]; ++k) {
                const std::int64_t column = matrix.column_indices[share.entries[k]];
                ++plane[bin * raster.column_bins() + column * raster.column_bins() / matrix.columns];
            }
        }
    }
    CHECK(raster.tiles == static_cast<Index>(staged.shares.size()));
    CHECK(raster.planes[0] == plane);
    CHECK(raster.planes[1].empty());
    CHECK(raster.longest_row == longest);
    CHECK(raster.rows_in_tiles == rows);
}

StageCaption caption_of(const std::string& idle) {
    return {"3  order", "within tiles", {{"idle lanes in tiles", idle, "51 %"}}};
}

}  // namespace

TEST_CASE("a note says that a picture of tiles leaves empty rows out, of one tile, too") {
    const CsrMatrix matrix = csr_from_entries(6, 4, std::vector<Entry>{{1, 1, 1}, {4, 0, 2}});
    const auto notes = [](const StagedMatrix& staged) { return pattern_notes(rasterise(staged, 50), {0, 0, 100, 100}); };
    for (const Index height : {6, 3}) {
        CHECK(notes(tiled(matrix, height, 4, false)).front() == "rows are compressed: empty ones of a tile are left out");
    }
    CHECK(notes(stage_input(matrix)).empty());
}

TEST_CASE("tiles: rows are placed as their tile stores them") {
    const PatternRaster raster = rasterise(tiled(example(), 3, 3, true));
    CHECK(raster.tiles == 4);
    CHECK(raster.plane_names == std::vector<std::string>{"nonzeros of 4 tiles, rows as stored"});
    CHECK(raster.values == std::vector<double>{0,  0, 7, 0, 6,  0,   //
                                               0,  4, 5, 0, 0,  0,   //
                                               1,  2, 3, 0, 0,  0,   //
                                               10, 0, 0, 0, 0,  13,  //
                                               0,  0, 0, 8, 0,  9,   //
                                               0,  0, 0, 0, 11, 12});
    CHECK(raster.rows_in_tiles == Offsets{2, 1, 1, 2, 1, 1});
    CHECK(raster.longest_row == Offsets{1, 2, 3, 1, 2, 2});
    CHECK(raster.row_cuts == std::vector<int>{3});
    CHECK(raster.column_cuts == std::vector<int>{3});
    CHECK(raster.original_rows.empty());
    Indices numbers;
    for (const PatternRaster::TileRow& row : raster.tile_rows) numbers.push_back(row.original);
    CHECK(numbers == Indices{2, 1, 0, 1, 4, 5, 3, 4});
    CHECK(raster.tile_rows[3].row_bin == 0);
    CHECK(raster.tile_rows[3].column_bin == 3);
}

TEST_CASE("tiles: rasterise counts every nonzero in its bin") {
    for (const bool by_length : {false, true}) {
        check_against_definition(tiled(uneven(997, 613), 37, 53, by_length), 50);
        check_against_definition(tiled(uneven(997, 613), 1, 613, by_length), 400);
        check_against_definition(tiled(uneven(300, 2000), 500, 7, by_length), 64);
        check_against_definition(tiled(uneven(997, 613), 0, 100, by_length), 50);  // segments without row blocks
        for (const NamedMatrix& named : battery()) {
            CAPTURE(named.name);
            if (named.matrix.nonzeros() > 0) check_against_definition(tiled(named.matrix, 3, 4, by_length), 16);
        }
    }
    CHECK(rasterise(tiled(csr_from_entries(3, 3, {}), 2, 2, false)).tiles == 0);
}

TEST_CASE("tiles: the profile of a tile is exact") {
    const TileProfiles before = profile_tiles(tiled(example(), 3, 3, false));
    const TileProfiles after = profile_tiles(tiled(example(), 3, 3, true));
    CHECK(before.tiles == 4);
    REQUIRE(before.chosen.size() == 4);
    CHECK(before.chosen[0] == TileProfile{{ShareKind::tile, 0, 0}, 3, 6, 3, {3, 2, 1}, {3, 2, 1}});
    CHECK(after.chosen[0] == TileProfile{{ShareKind::tile, 0, 0}, 3, 6, 3, {1, 2, 3}, {1, 2, 3}});
    CHECK(after.chosen[0].idle() == doctest::Approx(1 - 6 / 96.0));
    CHECK(after.shows_change_of(before));
    CHECK_FALSE(after.shows_change_of(after));
    CHECK(profile_tiles(stage_input(example())).tiles == 0);
    CHECK_FALSE(after.shows_change_of(profile_tiles(stage_input(example()))));
}

TEST_CASE("tiles: the same of many tiles are chosen in every order") {
    const TileProfiles before = profile_tiles(tiled(uneven(2000, 1000), 300, 100, false));
    const TileProfiles after = profile_tiles(tiled(uneven(2000, 1000), 300, 100, true));
    CHECK(before.tiles == 70);
    REQUIRE(before.chosen.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) {
        CHECK(before.chosen[i].id == after.chosen[i].id);
        CHECK(before.chosen[i].longest.size() == std::min<std::size_t>(128, before.chosen[i].rows));
        Offset total = 0;
        for (const Offset bar : after.chosen[i].totals) total += bar;
        CHECK(total == after.chosen[i].nonzeros);
        CHECK(after.chosen[i].steps < before.chosen[i].steps);
        CHECK(std::is_sorted(after.chosen[i].longest.begin(), after.chosen[i].longest.end()));
    }
    CHECK_THROWS_AS((void)image_of(TileProfilePicture{before, profile_tiles(tiled(example(), 3, 3, true)), {}}),
                    std::invalid_argument);
    // Tiles of the same rows with other nonzeros are other tiles.
    TileProfiles other = after;
    other.chosen[3].nonzeros += 1;
    CHECK_THROWS_AS((void)image_of(TileProfilePicture{before, other, {}}), std::invalid_argument);
}

TEST_CASE("tiles: of each twelfth of the tiles, the one with the most nonzeros is chosen") {
    const StagedMatrix staged = tiled(uneven(2000, 1000), 300, 100, false);
    const TileProfiles profiles = profile_tiles(staged);
    REQUIRE(staged.shares.size() == 70);
    for (std::size_t i = 0; i < 12; ++i) {
        Offset most = 0;
        for (std::size_t tile = i * 70 / 12; tile < (i + 1) * 70 / 12; ++tile) {
            most = std::max(most, static_cast<Offset>(staged.shares[tile].entries.size()));
        }
        CHECK(profiles.chosen[i].nonzeros == most);
    }
    // The picture says how many tiles there are if it does not show all of them.
    TileProfiles one_more = profiles;
    TileProfiles all = profiles;
    all.tiles = 12;
    one_more.tiles = 13;
    const auto pixels_of = [](const TileProfiles& shown) { return image_of(TileProfilePicture{shown, shown, {}}).pixels; };
    CHECK(pixels_of(one_more) != pixels_of(all));
}

TEST_CASE("pictures of tiles equal the golden ones") {
    SUBCASE("entries, with the numbers of the rows in each tile") {
        const std::vector<PatternRaster> rasters{rasterise(tiled(example(), 3, 3, true))};
        check_golden("tile_entries", image_of(StagePicture{rasters[0], common_scale(rasters), caption_of("94 %")}));
    }
    SUBCASE("before and after on one sheet") {
        std::vector<StageFrame> frames;
        std::vector<PatternRaster> rasters;
        for (const bool by_length : {false, true}) {
            rasters.push_back(rasterise(tiled(uneven(1800, 1200), 300, 400, by_length)));
            frames.push_back({rasters.back(), caption_of(by_length ? "20 %" : "51 %")});
        }
        check_golden("tile_sheet", image_of(ContactSheet{frames, common_scale(rasters), {"Tiles", "rows by length in each"}}));
    }
    SUBCASE("profiles") {
        const TileProfiles before = profile_tiles(tiled(uneven(1800, 1200), 300, 400, false));
        const TileProfiles after = profile_tiles(tiled(uneven(1800, 1200), 300, 400, true));
        check_golden("tile_profiles", image_of(TileProfilePicture{before, after, caption_of("20 %")}));
        CHECK(faults_of(TileProfilePicture{before, after, caption_of("20 %")}) == Faults{});
    }
    SUBCASE("profiles name the number of tiles if some are not shown") {
        const auto says = [](const TileProfiles& shown, const std::string& words) {
            return svg_of(TileProfilePicture{shown, shown, {}}).find(words) != std::string::npos;
        };
        const TileProfiles few = profile_tiles(tiled(example(), 3, 3, true));
        const TileProfiles many = profile_tiles(tiled(uneven(1800, 1200), 300, 400, true));
        REQUIRE(few.tiles == static_cast<Index>(few.chosen.size()));
        REQUIRE(many.tiles > 12);
        CHECK_FALSE(says(few, " of " + std::to_string(few.tiles) + " tiles"));
        CHECK(says(many, "12 of " + std::to_string(many.tiles) + " tiles"));
    }
    SUBCASE("a wide matrix takes the whole width") {
        const std::vector<PatternRaster> rasters{rasterise(tiled(uneven(300, 4000), 100, 500, true))};
        check_golden("wide", image_of(StagePicture{rasters[0], common_scale(rasters), caption_of("20 %")}));
    }
}

TEST_CASE("profiles show all digits of nonzeros and rows") {
    TileProfiles profiles{1, {{{.kind = ShareKind::segment}, 123'456'789, 1'234'567'890, 40'000'000, {9}, {1'234'567'890}}}};
    const auto drawn = [&] { return image_of(TileProfilePicture{profiles, profiles, {}}).pixels; };
    const auto before = drawn();
    CHECK(faults_of(TileProfilePicture{profiles, profiles, {}}) == Faults{});
    profiles.chosen[0].rows += 1;  // changes the last digit
    CHECK(drawn() != before);
}

TEST_CASE("the flow of a product: pieces, partial results and sums") {
    // Rows 0: columns 0, 2; 1: column 3; 2: columns 0, 1, 3.
    const CsrMatrix matrix =
        csr_from_entries(3, 4, std::vector<Entry>{{0, 0, 1}, {0, 2, 2}, {1, 3, 3}, {2, 0, 4}, {2, 1, 5}, {2, 3, 6}});
    const ProductFlow segments = flow_of(tiled(matrix, 0, 2, true));
    CHECK(segments.row_starts == Indices{0, 3});
    CHECK(segments.column_starts == Indices{0, 2, 4});
    REQUIRE(segments.pieces.size() == 2);
    using Rows = std::vector<std::pair<Index, Indices>>;
    CHECK(segments.pieces[0].rows == Rows{{0, {0}}, {2, {0, 1}}});
    CHECK(segments.pieces[1].rows == Rows{{0, {2}}, {1, {3}}, {2, {3}}});
    CHECK(segments.partial_results() == 5);
    const ProductFlow tiles = flow_of(tiled(matrix, 2, 2, false));
    CHECK(tiles.row_starts == Indices{0, 2, 3});
    CHECK(tiles.pieces.size() == 4);
    CHECK(tiles.pieces[2].row_block == 1);
    check_golden("flow", image_of(FlowPicture{"A matrix", "2 x 2 tiles", tiles, 640}));
    CHECK(faults_of(FlowPicture{"A matrix", "2 x 2 tiles", tiles}) == Faults{});
    for (const Index size : {5, 16, 32}) {
        for (const Index width : {2, 3, 7}) {
            CAPTURE(size);
            CAPTURE(width);
            const ProductFlow large = flow_of(tiled(uneven(size, size), width, width, false));
            CHECK(faults_of(FlowPicture{"A matrix", "tiles", large}) == Faults{});
        }
    }
    FlowPicture bare{"A matrix", "2 x 2 tiles", tiles, 3800, true};
    CHECK(faults_of(bare) == Faults{});
    CHECK(words_of(bare).front() == "x0");  // neither title nor subtitle
    CHECK(std::ranges::count(words_of(bare), "(a) partial results") == 1);
    CHECK(std::ranges::count(words_of(bare), "(b) sums") == 1);
    const double points = points_of_numbers(bare);
    const int beside = size_of(bare).height;
    CHECK(points > 5);
    bare.width /= 2;  // the phases are below each other
    CHECK(points_of_numbers(bare) > points / 2);
    CHECK(size_of(bare).height > beside * 3 / 2);
    CHECK(faults_of(bare) == Faults{});
    CHECK(flow_of(tiled(csr_from_entries(1, 2, std::vector<Entry>{{0, 1, 1}}), 0, 1, false)).partial_results() == 1);
    CHECK_THROWS_AS((void)flow_of(stage_input(matrix)), std::invalid_argument);
    CHECK_THROWS_AS((void)flow_of(tiled(csr_from_entries(0, 2, {}), 0, 1, false)), std::invalid_argument);
    CHECK_THROWS_AS((void)flow_of(tiled(csr_from_entries(2, 0, {}), 0, 1, false)), std::invalid_argument);
    CHECK_THROWS_AS((void)flow_of(tiled(csr_from_entries(33, 1, std::vector<Entry>{{32, 0, 1}}), 0, 1, false)),
                    std::invalid_argument);
}

}  // namespace workbench
