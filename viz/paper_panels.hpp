// Patterns and graphs of a matrix after stages of a recipe, as panels for the column of a paper.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "viz/canvas.hpp"
#include "viz/graph_view.hpp"
#include "viz/palette.hpp"
#include "viz/raster.hpp"

namespace workbench {

struct PaperGraph {
    const GraphView& graph;
    const GraphColours& colours;
};

struct PaperPanel {
    std::variant<PatternRaster, PaperGraph> content;
    std::string name;
};

/// Patterns and graphs in rows of two or three, each with a letter and its name below: "(a) input". One panel alone has
/// neither. Below the name of a graph whose colours are a scale is this scale. Everything else belongs into the caption of the
/// figure.
struct PaperPanels {
    std::span<const PaperPanel> panels;  // at most 26
    DensityScale scale;
    int width = 0;  // of the column, in pixels of 1 / fineness of PaperColumn's

    static constexpr int fineness = 4;  // 576 bins an inch
};

/// The side of a panel of this number in a column of this width.
[[nodiscard]] int panel_side(std::size_t panels, int width);

[[nodiscard]] PictureSize size_of(const PaperPanels& figure);
void draw(Canvas& canvas, const PaperPanels& figure);

}  // namespace workbench
