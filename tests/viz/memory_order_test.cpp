// Groups of cells in memory order, and joined bins.
#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "viz/memory_order.hpp"
#include "viz/storage_text.hpp"

namespace workbench {

TEST_CASE("unread padding belongs to the line of its lanes") {
    // The (warp, lane, step) that reads each cell; `none` is padding that no lane reads.
    const auto cells_of = [](const std::vector<std::array<int, 3>>& reads) {
        StorageArray array;
        array.role = ArrayRole::value;
        for (const auto& [warp, lane, step] : reads) {
            StorageCell cell;
            cell.padding = warp < 0;
            cell.nonzero = cell.padding ? -1 : static_cast<Offset>(array.cells.size());
            cell.warp = warp;
            cell.lane = warp < 0 ? -1 : lane;
            cell.step = warp < 0 ? -1 : step;
            // Rows and columns repeat, so that only lanes define the lines.
            cell.row = cell.padding ? -1 : lane;
            cell.column = cell.padding ? -1 : lane;
            array.cells.push_back(cell);
        }
        array.length = static_cast<Offset>(array.cells.size());
        return array;
    };
    constexpr std::array<int, 3> none{-1, -1, -1};
    // Lane 4 is idle in step 1 of warp 0, and lanes 4 and 5 in step 2; their padding begins the line.
    const StorageArray array = cells_of({{0, 4, 0},
                                         {0, 5, 0},
                                         {0, 6, 0},
                                         none,
                                         {0, 5, 1},
                                         {0, 6, 1},
                                         none,
                                         none,
                                         {0, 6, 2},
                                         {1, 4, 0},
                                         {1, 5, 0},
                                         {1, 4, 1},
                                         {1, 5, 1}});
    const auto lines_of = [](const StorageArray& of) {
        const MemoryOrder order = memory_order_of(of);
        REQUIRE(order.along == Along::lanes);
        std::string text;
        for (const DrawnPlace& place : order.places) {
            text += place.begins == Begins::group ? "#" : place.begins == Begins::line ? "|" : "";
            text += fmt::format("{}", place.cell);
        }
        return text;
    };
    CHECK(lines_of(array) == "012|345|678#910|1112");
    // Each lane of a single warp reads two places a step; lane 0 is idle in step 1.
    CHECK(lines_of(cells_of({{0, 0, 0},
                             {0, 0, 0},
                             {0, 1, 0},
                             {0, 1, 0},
                             none,
                             none,
                             {0, 1, 1},
                             {0, 1, 1},
                             {0, 0, 2},
                             {0, 0, 2},
                             {0, 1, 2},
                             {0, 1, 2}})) == "0123|4567|891011");
}

TEST_CASE("joined bins have the totals and ranges of their parts") {
    StorageArray array;
    array.length = 150;
    array.width = 32;
    array.bins = {{3, 0, 1, 5, 9, 0, 28},
                  {32, -1, -1, -1, -1, -1, -1},
                  {32, -1, -1, -1, -1, -1, -1},
                  {0, 2, 3, 1, 7, 29, 60},
                  {1, 4, 4, 8, 8, 61, 80}};
    const auto [all, width] = joined_bins(array, 5);
    CHECK(width == 32);
    CHECK(all.size() == 5);
    const auto [some, wider] = joined_bins(array, 3);
    CHECK(wider == 64);
    REQUIRE(some.size() == 3);
    CHECK(some[0].padding == 35);
    CHECK(some[0].first_column == 5);
    CHECK(some[0].last_column == 9);
    CHECK(some[1].padding == 32);
    CHECK(some[1].first_column == 1);
    CHECK(some[1].last_column == 7);
    CHECK(some[2].padding == 1);
    CHECK(joined_bins(array, 1).first.size() == 1);
}

TEST_CASE("eight equal elements of a structure share a place, seven do not") {
    StorageArray array;
    for (const auto& [text, count] : {std::pair{"4", 7}, {"5", 8}, {"6", 1}}) {
        for (int i = 0; i < count; ++i) array.cells.push_back({.text = text});
    }
    array.length = static_cast<Offset>(array.cells.size());
    const std::vector<DrawnPlace> places = plain_places_of(array);
    REQUIRE(places.size() == 7 + 1 + 1);
    CHECK(places[6].cells == 1);
    CHECK(places[7].cells == 8);
    CHECK(places[8].cell == 15);
}

TEST_CASE("arrays whose places correspond to those of another one are drawn with it") {
    StoragePart part;
    for (const int like : {-1, 0, -1, 2, 0}) {
        part.arrays.push_back({.name = "array"});
        part.arrays.back().like = like;
    }
    CHECK(tracks_of(part) == std::vector<std::vector<int>>{{0, 1, 4}, {2, 3}});
}

TEST_CASE("a matrix as text has each of its rows and columns once, with their numbers in the input") {
    for (const auto& [rows, columns] : {std::pair{2, 5}, {5, 2}}) {
        StagedMatrix staged = stage_input(csr_from_entries(rows, columns, std::vector<Entry>{{0, 1, 33}, {1, 0, 44}}));
        std::vector<Index> backwards(columns);
        for (Index i = 0; i < columns; ++i) backwards[i] = columns - 1 - i;
        apply(staged, {OrderChange{Acts::columns, Permutation::from_old_of_new(backwards)}}, {});
        std::istringstream words(draw_matrix(staged));
        std::map<std::string, int> count;
        for (std::string word; words >> word;) ++count[word];
        CHECK(count["."] == rows * columns - 2);
        CHECK(count["["] == rows);
        CHECK(count["columns"] == 1);
        CHECK(count["0"] == 3);  // above, before a row, and below
        const std::string last = std::to_string(std::max(rows, columns) - 1);
        CHECK(count[last] == (columns > rows ? 2 : 1));  // above and below, or before a row
    }
}

TEST_CASE("the text of a hybrid names the share of each layout") {
    StorageMap map;
    map.by_cell = true;
    for (const char* share : {"long", ""}) {
        StoragePart& part = map.parts.emplace_back();
        part.share = share;
        part.layout = "ell";
        StorageCell cell{.text = "7"};
        cell.nonzero = cell.row = cell.column = 0;
        part.arrays.push_back(
            {.name = "values", .role = ArrayRole::value, .type = ElementType::f64, .length = 1, .nonzeros = 1});
        part.arrays.back().cells = {cell};
    }
    const std::string text = draw_storage(map, 80);
    CHECK(text.starts_with("share long in ell: 1 nonzero in 1 place, 0.0 % of padding; 8 bytes\n"));
    CHECK(text.find("\n\nell: 1 nonzero in 1 place, 0.0 % of padding; 8 bytes\n") != std::string::npos);
}

TEST_CASE("the text of a layout counts the nonzeros that mirror images serve") {
    StorageMap map;
    map.by_cell = true;
    StoragePart& part = map.parts.emplace_back();
    part.layout = "halo";
    part.mirrors = 1;
    StorageCell cell{.text = "7"};
    cell.nonzero = cell.row = cell.column = 0;
    StorageCell padding{.text = "0", .padding = true};
    StorageArray& values = part.arrays.emplace_back();
    values = {.name = "values", .role = ArrayRole::value, .type = ElementType::f32, .length = 3, .nonzeros = 2};
    values.padding = 1;
    values.cells = {cell, cell, padding};
    CHECK(draw_storage(map).starts_with("halo: 3 nonzeros in 3 places, 33.3 % of padding; 12 bytes\n"));
}

TEST_CASE("the text of a warp counts the steps that are not listed, and lanes without nonzeros") {
    StorageMap map;
    map.by_cell = true;
    StorageArray values{.name = "values", .role = ArrayRole::value, .type = ElementType::f64, .length = 2, .nonzeros = 1};
    values.padding = 1;
    values.cells = {{.text = "7", .row = 0, .column = 0, .nonzero = 0}, {.text = "0", .padding = true}};
    WarpReads warp{.warp = 3, .steps = 70, .reads = std::vector<LaneRead>(most_shown_steps * 32)};
    warp.reads[5] = {.array = 0, .index = 0, .row = 0, .column = 0};
    warp.reads[6] = {.array = 0, .index = 1, .row = 0, .column = 0, .padding = true};
    StoragePart part;
    part.layout = "some";
    part.kernel = "fused";
    part.arrays = {values};
    part.warps = 5;
    part.shown_warps = {warp};
    map.parts = {part};
    const std::string text = draw_storage(map);
    CHECK(text.find("  6 more steps\n") != std::string::npos);
    CHECK(text.find("  other lanes: 1 only padding, 30 idle\n") != std::string::npos);
    CHECK(text.find("  1 of 5 warps\n") != std::string::npos);
}

}  // namespace workbench
