// Panels for the column of a paper.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "support/drawn_texts.hpp"
#include "viz/palette.hpp"
#include "viz/paper_panels.hpp"
#include "viz/raster.hpp"

namespace workbench {
namespace {

std::vector<PaperPanel> panels_named(const std::vector<std::string>& titles) {
    const std::vector<Entry> entries{{0, 0, 1.0}, {1, 2, 2.0}};
    std::vector<PaperPanel> panels;
    for (const std::string& title : titles) {
        panels.push_back({rasterise(stage_input(csr_from_entries(3, 3, entries)), 16), title});
    }
    return panels;
}

std::string drawn(const std::vector<PaperPanel>& panels, int width) { return svg_of(PaperPanels{panels, {}, width}); }

TEST_CASE("panels have letters and the names of their stages, in rows of two or three") {
    const auto three = panels_named({"input", "sort", "split"});
    const std::string svg = drawn(three, 2000);
    for (const char* label : {">(a) input<", ">(b) sort<", ">(c) split<"}) CHECK(svg.find(label) != std::string::npos);
    const int side = panel_side(3, 2000);
    CHECK(side == (2000 - 2 * 64) / 3);
    CHECK(size_of(PaperPanels{three, {}, 2000}).width == 2000);
    CHECK(size_of(PaperPanels{three, {}, 2000}).height == side + 104);
    const auto four = panels_named({"input", "a", "b", "c"});
    CHECK(panel_side(4, 2000) == (2000 - 64) / 2);
    CHECK(size_of(PaperPanels{four, {}, 2000}).height == 2 * (panel_side(4, 2000) + 104) + 64);
    const auto seven = panels_named({"1", "2", "3", "4", "5", "6", "7"});
    CHECK(panel_side(7, 2000) == side);
    CHECK(size_of(PaperPanels{seven, {}, 2000}).height == 3 * (side + 104) + 2 * 64);
}

TEST_CASE("a pattern that is higher than wide is in the middle of its panel") {
    const CsrMatrix tall = csr_from_entries(8, 4, std::vector<Entry>{{0, 0, 1.0}, {7, 3, 2.0}});
    const std::vector<PaperPanel> panel{{rasterise(stage_input(tall), 16), "input"}};
    TextCanvas canvas;
    draw(canvas, PaperPanels{panel, {}, 600});
    double left = 600;
    double right = 0;
    for (const Rectangle& box : canvas.drawn) {
        left = std::min(left, box.x);
        right = std::max(right, box.x + box.width);
    }
    CHECK(left == doctest::Approx(150).epsilon(0.03));
    CHECK(right == doctest::Approx(450).epsilon(0.01));
}

TEST_CASE("a graph and its matrix as panels: vertices inside, numbers where they can be read, the scale of the colours below") {
    const std::vector<Entry> entries{{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}, {1, 2, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}};
    const StagedMatrix staged = stage_input(csr_from_entries(3, 3, entries));
    const GraphView view = graph_view(std::vector<NodePlace>{{0, 0}, {1, 0}, {1, 1}}, {{0, 1}, {1, 2}});
    const GraphColours order = graph_colours(staged, view);
    const auto panels = [&](const GraphColours& colours) {
        return std::vector<PaperPanel>{{PaperGraph{view, colours}, "by row"}, {rasterise(staged, 16), "matrix"}};
    };
    const std::vector<PaperPanel> shown = panels(order);
    const PaperPanels figure{shown, {}, 1900};
    const auto has = [&](const std::string& text) { return svg_of(figure).find('>' + text + '<') != std::string::npos; };
    for (const char* text : {"(a) by row", "(b) matrix", "0", "1", "2"}) CHECK(has(text));
    CHECK(faults_of(figure) == Faults{});
    TextCanvas canvas;
    draw(canvas, figure);
    CHECK(std::ranges::count(canvas.texts, "2", &DrawnText::text) == 2);  // a vertex, and the end of the scale

    GraphColours pieces = order;
    pieces.by = GraphColouring::pieces;
    pieces.pieces = {0, 0, 1};
    const std::vector<PaperPanel> without_scale = panels(pieces);
    CHECK(size_of(PaperPanels{without_scale, {}, 1900}).height == size_of(figure).height - 104);
}

TEST_CASE("one pattern alone fills the column and has no letter") {
    const auto one = panels_named({"input"});
    CHECK(drawn(one, 600).find("input") == std::string::npos);
    CHECK(size_of(PaperPanels{one, {}, 600}).height == 600);
}

}  // namespace
}  // namespace workbench
