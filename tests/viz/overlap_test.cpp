// Texts of pictures and charts neither overlap nor are cut, and are within the picture.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/matrix/battery.hpp"
#include "support/drawn_texts.hpp"
#include "support/split_shares.hpp"
#include "viz/chart.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/graph_picture.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr const char* long_source =
    "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication' (slides): column size and cache hit rate";

StageCaption caption_of(int number) {
    return {fmt::format("{}  metis_partition", number),
            "parts = 16, seed = 1",
            {{"nonzeros inside", "86.6 %", "-", std::numeric_limits<double>::infinity()},
             {"bandwidth", "1,834,617", "8,574,519", 4.7},
             {"edge cut", "10,637", ""},
             {"SELL-32 padding", "33.0 %", "23.0 %"},
             {"mean bandwidth", "1,300", "227"}}};
}

}  // namespace

TEST_SUITE("texts of pictures") {
    TEST_CASE("the check finds overlapping, cut and leaving texts") {
        XyChart chart{"title", "", {"x"}, {"y", false, 0, 1}, {Series{"series", {{1, 1}, {2, 1}}}}};
        CHECK(faults_of(chart) == Faults{});
        chart.title = std::string(200, 'W');
        CHECK(faults_of(chart).size() == 1);
        HeatMap map{"t", "", "rows", "columns", {"row"}, {"a", "b"}, {{1.5, 0.5}}};
        map.columns[0] = std::string(60, 'W');
        CHECK_FALSE(faults_of(map).empty());
    }

    TEST_CASE("curves with a legend, guides and a foot") {
        for (const bool logarithmic : {false, true}) {
            XyChart chart{"Hit rate of x",
                          "segment width on a model of NVIDIA Tesla K20X, f64",
                          {"stage.column_segmentation.width", true},
                          {"hits, % of a cache's requests", logarithmic},
                          {}};
            for (std::size_t i = 0; i < most_series; ++i) {
                Series one{fmt::format("SELL-32-{} after RCM", 1 << i), {}, Drawn::lines};
                for (double x = 192; x < 20'000; x *= 2) one.points.emplace_back(x, 1.0 + 12.0 * static_cast<double>(i));
                chart.series.push_back(one);
            }
            chart.foot = fmt::format("elasticity3d nx=20 ny=20 nz=20 scramble=0  ·  {}", long_source);
            CHECK(faults_of(chart) == Faults{});
            chart.guides = {Series{"copy, 4,280 GB/s", {{200, 10}, {20'000, 60}}, Drawn::lines}};
            CHECK(faults_of(chart) == Faults{});
        }
    }

    TEST_CASE("names of guides cover no points of the series") {
        for (const ColumnWidth column : {0, 475}) {
            for (const auto& end : {std::pair{0.3, 3.0}, {0.1, 3.0}}) {
                XyChart chart{"Roofline", "", {"FLOP per byte", true}, {"GFLOP/s", true}, {Series{"CSR", {}}}};
                chart.guides = {Series{"copy 22.7 GB/s", {{0.1, 1}, end}, Drawn::lines}};
                chart.column = column;
                const auto place_of_name = [&chart] {
                    TextCanvas canvas;
                    draw(canvas, chart);
                    return *std::ranges::find(canvas.texts, "copy 22.7 GB/s", &DrawnText::text);
                };
                const Rectangle free = place_of_name().place;
                for (const double x : {0.1, 0.15, 0.2, 0.25, 0.3}) {
                    for (const double y : {0.5, 3.0, 9.0}) chart.series.front().points.emplace_back(x, y);
                }
                TextCanvas canvas;
                draw(canvas, chart);
                const Rectangle name = place_of_name().place;
                const auto is_covered = [&name](Point mark) { return overlap(name, {mark.x - 5, mark.y - 5, 10, 10}); };
                CHECK(std::ranges::none_of(canvas.marks, is_covered));
                CHECK_EQ(fmt::format("{}", fmt::join(faults_of(chart), "; ")), "");
                CHECK((free.x != name.x || free.y != name.y));
            }
        }
    }

    TEST_CASE("bars") {
        BarChart chart;
        chart.title = "Speed-up by matrix";
        chart.subtitle = "NVIDIA H200, f64, 12 matrices";
        chart.label = "speed-up over CSR in the input's order";
        chart.series = {"EHYB", "SELL-32-16384 after RCM", "halo"};
        chart.guide = 1;
        for (int row = 0; row < 12; ++row) {
            chart.rows.push_back(fmt::format("poisson3d_p{}, 634,273 rows", row));
            chart.values.push_back({0.5 + 0.1 * row, 1.2, 1.5});
        }
        chart.foot = "thin lines: 95 % confidence";
        CHECK(faults_of(chart) == Faults{});
        chart.stacked = true;
        CHECK(faults_of(chart) == Faults{});
    }

    TEST_CASE("heat maps") {
        HeatMap map{"Speed-up of each recipe on each matrix", "CPU, f64, 8 matrices", "", "", {}, {}, {}};
        for (int column = 0; column < 8; ++column) map.columns.push_back(fmt::format("delaunay_n2{}", column));
        for (int row = 0; row < 6; ++row) {
            map.rows.push_back(fmt::format("SELL-32-{} after RCM", 1 << (row + 8)));
            map.values.emplace_back(8, 0.25 + row);
        }
        map.foot = "no colour: within noise";
        CHECK(faults_of(map) == Faults{});
    }

    TEST_CASE("charts in the column of a paper are as wide as it, without title, subtitle and foot") {
        for (const int column : {340, 475, 1000}) {
            CAPTURE(column);
            const auto check = [&](auto chart) {
                chart.title = chart.subtitle = chart.foot = "caption";
                chart.column = column;
                CHECK(size_of(chart).width == column);
                CHECK_EQ(fmt::format("{}", fmt::join(faults_of(chart), "; ")), "");
                for (const std::string& text : words_of(chart)) CHECK(text != "caption");
            };
            const std::vector<std::string> names{"EHYB", "SELL after RCM", "halo", "CSR"};
            XyChart curves{"", "", {"time over that of the fastest"}, {"fraction of the matrices", false, 0, 1}, {}};
            for (const std::string& name : names) curves.series.push_back({name, {{1, 0.2}, {2, 1}}, Drawn::steps});
            check(curves);
            curves.guides = {{"fills L1", {{1.5, 0}, {1.5, 1}}, Drawn::lines}};
            check(curves);
            BarChart bars{.title = "",
                          .subtitle = "",
                          .label = column < 400 ? "speed-up over CSR" : "speed-up over CSR in the input's order",
                          .rows = {"an elasticity", "dg2d_p1"},
                          .series = names,
                          .values = {{1, 2, 3, 4}, {1, 2, 3, 0.5}}};
            check(bars);
            bars.stacked = true;
            check(bars);
            HeatMap map{"", "", "", "", {"elas3d_p1", "dg2d_p1"}, names, {{1, 2, 3, 4}, {1, 2, 3, 0.5}}};
            check(map);
            map.columns = {"1", "2", "4", "8"};  // they fit without letters and a legend
            check(map);
            map.row_label = "layout.slice_height";
            map.column_label = "stage.row_sort.window";
            map.column = column;
            check(map);
            const auto has_label = [](const std::string& text) { return text.starts_with("down: layout.slice_height"); };
            CHECK(std::ranges::count_if(words_of(map), has_label) == 1);
            curves.series.resize(1);
            const int with_legend = size_of(bars).height;
            check(curves);
            bars.column = column;
            bars.series.resize(1);
            CHECK(size_of(bars).height < with_legend);  // one series needs no legend
        }
    }

    TEST_CASE("the axis of bars is logarithmic if one would hide the others") {
        BarChart bars{.title = "",
                      .subtitle = "",
                      .label = "products",
                      .rows = {"a", "b", "c"},
                      .series = {"one"},
                      .values = {},
                      .guide = 1};
        const auto label_of = [&](double longest) {
            bars.values = {{1}, {2}, {longest}};
            for (const std::string& text : words_of(bars)) {
                if (text.starts_with("products")) return text;
            }
            return std::string();
        };
        CHECK(label_of(80) == "products");
        CHECK(label_of(81) == "products, logarithmic");
        CHECK(faults_of(bars) == Faults{});
        bars.stacked = true;
        CHECK(label_of(81) == "products");
    }

    TEST_CASE("a graph beside its pattern") {
        for (const NamedMatrix& one : battery()) {
            if (!one.matrix.square()) continue;
            CAPTURE(one.name);
            const StagedMatrix staged = stage_input(one.matrix);
            std::vector<NodePlace> places;
            for (Index row = 0; row < one.matrix.rows; ++row) places.push_back({double(row % 7), double(row / 7), 0});
            const GraphView view = graph_view(places, {});
            const GraphColours colours = graph_colours(staged, view);
            const PatternRaster raster = rasterise(staged, graph_resolution(nominal_width));
            CHECK(faults_of(GraphPicture{view, colours, raster, {16}, caption_of(1)}) == Faults{});
        }
    }

    TEST_CASE("one stage, and sheets of stages") {
        for (const NamedMatrix& one : battery()) {
            const PatternRaster raster = rasterise(stage_input(one.matrix), stage_resolution(nominal_width));
            StageCaption caption = caption_of(1);
            caption.origin = fmt::format("EHYB  ·  elasticity3d.mtx.gz: 5,874 × 5,874, 158,356 nonzeros  ·  {}", long_source);
            CAPTURE(one.name);
            CHECK(faults_of(StagePicture{raster, {16}, caption}) == Faults{});
        }
        const CsrMatrix matrix = battery().back().matrix;
        for (const std::size_t count : {1, 2, 3, 4, 5, 6, 9}) {
            CAPTURE(count);
            const PatternRaster raster = rasterise(stage_input(matrix), sheet_resolution({count, 5}, nominal_width));
            std::vector<StageFrame> frames;
            for (std::size_t i = 0; i < count; ++i) frames.push_back({raster, caption_of(static_cast<int>(i))});
            const SheetHead head{"EHYB", fmt::format("elasticity3d.mtx.gz  ·  {}", long_source)};
            CHECK(faults_of(ContactSheet{frames, {16}, head}) == Faults{});
        }
    }

    TEST_CASE("on a sheet, the figure that a stage changed most is first, and larger if it changed by a tenth or more") {
        const PatternRaster raster = rasterise(stage_input(battery().back().matrix), sheet_resolution({3, 2}, nominal_width));
        for (const double factor : {1.09, 1.1}) {
            CAPTURE(factor);
            const StageCaption caption{"0  input", "", {{"edge cut", "11", "12", 1.0}, {"bandwidth", "13", "14", factor}}};
            TextCanvas canvas;
            draw(canvas, ContactSheet{std::vector<StageFrame>(3, {raster, caption}), {16}, {"EHYB", ""}});
            const auto places_of = [&](const char* text) {  // in the frame of the input and in those of the stages
                std::vector<Rectangle> places;
                for (const DrawnText& one : canvas.texts) {
                    if (one.text == text) places.push_back(one.place);
                }
                REQUIRE(places.size() == 3);
                return places;
            };
            const std::vector<Rectangle> cut = places_of("11");
            const std::vector<Rectangle> bandwidth = places_of("13");
            CHECK(cut[0].y < bandwidth[0].y);
            CHECK(cut[0].height == bandwidth[0].height);
            CHECK(bandwidth[1].y < cut[1].y);
            CHECK((bandwidth[1].height > cut[1].height) == (factor >= 1.1));
        }
    }

    TEST_CASE("a stage tells how many figures its picture leaves out") {
        const PatternRaster raster = rasterise(stage_input(battery().back().matrix), stage_resolution(nominal_width));
        const auto told = [&raster](std::size_t left_out) {
            StagePicture picture{raster, {16}, caption_of(1)};
            picture.caption.left_out = left_out;
            TextCanvas canvas;
            draw(canvas, picture);
            std::string text;
            for (const DrawnText& one : canvas.texts) {
                if (one.text.find("more figure") != std::string::npos) text += one.text;
            }
            return text;
        };
        CHECK(told(0).empty());
        CHECK(told(1) == "1 more figure in report.json");
        CHECK(told(2) == "2 more figures in report.json");
    }

    TEST_CASE("the legend has the rows of a bin before its columns") {
        const CsrMatrix tall = csr_from_entries(4000, 10, std::vector<Entry>{{0, 0, 1}, {1, 0, 1}, {3999, 9, 1}});
        TextCanvas canvas;
        draw(canvas, StagePicture{rasterise(stage_input(tall), 200), {2}, caption_of(1)});
        const auto is_unit = [](const DrawnText& one) { return one.text == "nonzeros in a bin of 20 × 1"; };
        CHECK(std::count_if(canvas.texts.begin(), canvas.texts.end(), is_unit) == 1);
    }

    TEST_CASE("the legend of a sheet is that of a share that is split again, which holds for the stages before, too") {
        const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {0, 1, 1}, {0, 2, 1}});
        std::vector<StageFrame> frames;
        for (const int shares : {1, 2, 3, 3}) {
            StagedMatrix staged = stage_input(matrix);
            if (shares > 1)
                staged.shares =
                    split_shares(matrix, shares, [&](Index, Index column) { return std::min<int>(column, shares - 1); });
            for (int i = 0; i < std::ssize(staged.shares); ++i)
                staged.shares[i].id = {i == 0 ? ShareKind::long_rows : ShareKind::short_rows};
            frames.push_back({rasterise(staged, 200), caption_of(shares)});
        }
        TextCanvas canvas;
        draw(canvas, ContactSheet{frames, {1}, {"", ""}, nominal_width});
        const auto has = [&](const std::string& text) { return std::ranges::count(canvas.texts, text, &DrawnText::text) == 1; };
        CHECK(has("long"));
        CHECK(has("2 other shares"));
        CHECK_FALSE(has("short"));
    }

    TEST_CASE("a sheet of five stages with shares, long parameters and many figures") {
        StagedMatrix staged =
            stage_input(csr_from_entries(2000, 2000, std::vector<Entry>{{0, 0, 1}, {5, 7, 1}, {1999, 1999, 1}, {3, 1500, 1}}));
        const auto raster_of = [&] { return rasterise(staged, 200); };
        std::vector<StageFrame> frames;
        for (int i = 0; i < 3; ++i) frames.push_back({raster_of(), caption_of(i)});
        frames[2].caption.title = "2  row_sort";
        frames[2].caption.subtitle = R"(within = "partition", key = "nonzeros_inside_partition", order = "descending")";
        staged.shares = split_shares(staged.matrix, 2, [](Index row, Index column) { return row == column ? 0 : 1; });
        staged.shares[0].id = {ShareKind::inside};
        staged.shares[1].id = {ShareKind::outside};
        for (int i = 3; i < 5; ++i) {
            frames.push_back(
                {raster_of(), {fmt::format("{}  split", i), R"(by = "inside_partition")", {{"bandwidth", "3", "3"}}}});
        }
        ContactSheet sheet{frames, {16}, {"EHYB", "elasticity3d.mtx.gz"}, nominal_width};
        CHECK(faults_of(sheet) == Faults{});
        CHECK(pattern_side(sheet) >= nominal_width * 18 / 100);  // "figures as before" takes little
        TextCanvas canvas;
        draw(canvas, sheet);
        CHECK(overlapping_texts(canvas) == Faults{});
        frames[4].caption = caption_of(4);
        CHECK(faults_of(sheet) == Faults{});
    }
}

}  // namespace workbench
