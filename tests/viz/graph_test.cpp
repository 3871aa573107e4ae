// The graph of a matrix: projection, colours and pictures.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "viz/golden_picture.hpp"
#include "viz/graph_picture.hpp"
#include "viz/palette.hpp"

namespace workbench {
namespace {

/// The grid of width x height vertices with x fastest.
CsrMatrix grid_matrix(Index width, Index height) {
    std::vector<Entry> entries;
    for (Index i = 0; i < width * height; ++i) {
        entries.push_back({i, i, 4});
        const auto couple = [&](Index other) {
            entries.push_back({i, other, -1});
            entries.push_back({other, i, -1});
        };
        if (i % width + 1 < width) couple(i + 1);
        if (i + width < width * height) couple(i + width);
    }
    return csr_from_entries(width * height, width * height, entries);
}

GraphView grid_view(Index width, Index height) {
    const CsrMatrix matrix = grid_matrix(width, height);
    std::vector<NodePlace> places;
    std::vector<std::array<Index, 2>> edges;
    for (Index i = 0; i < matrix.rows; ++i) {
        places.push_back({static_cast<double>(i % width), static_cast<double>(i / width), 0});
        for (const Index j : matrix.row_columns(i)) {
            if (i < j) edges.push_back({i, j});
        }
    }
    return graph_view(places, std::move(edges));
}

}  // namespace

TEST_SUITE("graph") {
    TEST_CASE("places fill the unit square, and those in space are seen obliquely") {
        const GraphView view = grid_view(5, 3);
        CHECK(view.extent.x == 1);
        CHECK(view.extent.y == 0.5);
        CHECK(view.places[4].x == 1);
        CHECK(view.places[14].y == 0.5);
        const std::vector<NodePlace> cube{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}};
        const GraphView space = graph_view(cube, {});
        CHECK(space.places[2].x > space.places[0].x);
        CHECK(space.places[2].y < space.places[0].y);
        CHECK(graph_view({}, {}).places.empty());
        CHECK(graph_view(std::vector<NodePlace>(1), {}).extent.x == 0);
    }

    TEST_CASE("colours by row order, row length and pieces") {
        const GraphView view = grid_view(4, 3);
        StagedMatrix staged = stage_input(grid_matrix(4, 3));
        const GraphColours order = graph_colours(staged, view);
        CHECK(order.by == GraphColouring::order);
        CHECK(order.colours.front() == GraphColours{}.scale_colour(0));
        CHECK(order.colours.back() == GraphColours{}.scale_colour(1));
        CHECK(order.highest == 11);
        const GraphColours length = graph_colours(staged, view, GraphColouring::length);
        CHECK(length.lowest == 3);
        CHECK(length.highest == 5);
        CHECK(length.colours[0] == GraphColours{}.scale_colour(0));
        CHECK(length.colours[5] == GraphColours{}.scale_colour(1));
        const GraphColours level = graph_colours(staged, view, GraphColouring::level);
        CHECK(level.lowest == 0);
        CHECK(level.highest == 5);  // the opposite corner of 4 x 3 points
        CHECK(level.colours[3] == GraphColours{}.scale_colour(0.6));
        CHECK(level.colours[8] == GraphColours{}.scale_colour(0.4));
        CHECK_FALSE(has_row_pieces(staged));
        CHECK_THROWS_AS(graph_colours(staged, view, GraphColouring::pieces), std::invalid_argument);

        StageChange change;
        change.order = OrderChange{Acts::symmetric, Permutation::from_old_of_new({11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0})};
        change.cuts = {Cuts{CutKind::partition, {0, 4, 8, 12}}};
        apply(staged, change, {});
        const GraphColours pieces = graph_colours(staged, view);
        CHECK(pieces.by == GraphColouring::pieces);
        CHECK(pieces.name == "3 partitions");
        CHECK(pieces.numbers.front() == 11);
        CHECK(pieces.pieces.front() == 2);
        CHECK(pieces.pieces.back() == 0);
        CHECK(pieces.colours[0] == pieces.colours[3]);
        CHECK(graph_colours(staged, view, GraphColouring::order).colours.front() == GraphColours{}.scale_colour(1));
        CHECK(graph_colours(staged, view, GraphColouring::level).colours.back() == GraphColours{}.scale_colour(0));
        CHECK(graph_colours(staged, view, GraphColouring::length).colours[0] == GraphColours{}.scale_colour(0));
    }

    TEST_CASE("scales in the palettes of papers") {
        const GraphView view = grid_view(4, 3);
        const StagedMatrix staged = stage_input(grid_matrix(4, 3));
        const PaperPalette& for_all = paper_palette("okabe-ito");
        const GraphColours colours = graph_colours(staged, view, GraphColouring::order, for_all);
        CHECK(colours.colours.front() == for_all.colours[0]);
        CHECK(colours.colours.back() == for_all.colours[5]);
        const PaperPalette& grey = paper_palette("grey");
        const GraphColours greys = graph_colours(staged, view, GraphColouring::order, grey);
        for (std::size_t row = 0; row < greys.colours.size(); ++row) {
            CHECK(greys.colours[row] == in_palette(greys.colours[row], grey));
            if (row > 0) CHECK(greys.colours[row].red > greys.colours[row - 1].red);
        }
    }

    TEST_CASE("adjacent pieces differ, though there are more pieces than hues") {
        const GraphView view = grid_view(14, 14);
        StagedMatrix staged = stage_input(grid_matrix(14, 14));
        StageChange change;
        std::vector<Index> boundaries;
        for (Index i = 0; i <= 196; i += 7) boundaries.push_back(i);  // half a line of the grid each
        change.cuts = {Cuts{CutKind::row_block, boundaries}};
        apply(staged, change, {});
        const GraphColours colours = graph_colours(staged, view);
        CHECK(colours.name == "28 row blocks");
        for (const auto& [a, b] : view.edges) {
            if (colours.pieces[a] != colours.pieces[b]) CHECK_FALSE(colours.colours[a] == colours.colours[b]);
        }
    }

    TEST_CASE("rows of shares have the colours of the shares, and skewed graphs those of their degrees") {
        StagedMatrix staged = stage_input(grid_matrix(4, 3));
        const GraphView view = grid_view(4, 3);
        StageChange change;
        const auto with_rows = [&](ShareKind kind, Index first, Index end) {
            Share share{.id = {.kind = kind}};
            for (Index row = first; row < end; ++row) {
                share.rows.push_back(row);
                for (Offset k = staged.matrix.row_offsets[row]; k < staged.matrix.row_offsets[row + 1]; ++k)
                    share.entries.push_back(k);
                share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
            }
            return share;
        };
        change.shares = std::vector<Share>{with_rows(ShareKind::long_rows, 0, 5), with_rows(ShareKind::short_rows, 5, 12)};
        apply(staged, change, {});
        REQUIRE(has_row_pieces(staged));
        const GraphColours colours = graph_colours(staged, view);
        CHECK(colours.name == "rows of the 2 shares");
        for (Index row = 0; row < 12; ++row) {
            CHECK(colours.pieces[row] == (row < 5 ? 0 : 1));
            CHECK(colours.colours[row] == hues[row < 5 ? 0 : 1].colour);
        }
        std::vector<Entry> star;
        for (Index i = 0; i < 40; ++i) star.push_back({0, i, 1});
        const StagedMatrix skewed = stage_input(csr_from_entries(40, 40, star));
        CHECK(graph_colours(skewed, GraphView{std::vector<Point>(40), {}, {}}).name == "nonzeros in the row");
    }

    TEST_CASE("the scale is visible on white") {
        for (int i = 0; i <= 64; ++i) CHECK(contrast(GraphColours{}.scale_colour(i / 64.0), white) >= 3);
    }

    TEST_CASE("pictures") {
        const GraphView view = grid_view(4, 3);
        StagedMatrix staged = stage_input(grid_matrix(4, 3));
        const PatternRaster raster = rasterise(staged, graph_resolution(960));
        const StageCaption caption{
            "0  input", "laplace2d nx=4 ny=3", {{"bandwidth", "4", ""}, {"profile", "37", "40"}}, "a grid"};
        const GraphColours order = graph_colours(staged, view);
        check_golden("graph_order", image_of(GraphPicture{view, order, raster, {1}, caption, 960}));
        StageChange change;
        change.cuts = {Cuts{CutKind::partition, {0, 4, 12}}};
        apply(staged, change, {});
        const GraphColours pieces = graph_colours(staged, view);
        const PatternRaster cut = rasterise(staged, graph_resolution(960));
        check_golden("graph_pieces", image_of(GraphPicture{view, pieces, cut, {1}, caption, 960}));
        const std::string svg = svg_of(GraphPicture{view, pieces, cut, {1}, caption, 960});
        CHECK(svg.find("<title>0  input</title>") != std::string::npos);
    }
}

}  // namespace workbench
