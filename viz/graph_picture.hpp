// The graph of a matrix beside its pattern after one stage, for a projector.
#pragma once

#include "viz/graph_view.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

/// The resolution of a raster that fills the pattern of a graph picture of this width.
[[nodiscard]] int graph_resolution(int width);

/// Draws the graph into the box. Lines and numbers that would be too small on a screen are thicker, or left out; `pixel` is the
/// length of one of its pixels. Returns true if vertices have numbers.
bool draw_graph(Canvas& canvas, const GraphView& graph, const GraphColours& colours, const Box& box, Unit unit,
                double pixel = 1);

/// A 16:9 picture. Edges have the colours of their ends; those between two pieces are black. Vertices with enough space have
/// the number of their current row.
struct GraphPicture {
    const GraphView& graph;
    const GraphColours& colours;
    const PatternRaster& raster;
    DensityScale scale;
    StageCaption caption;  // the first three lines with a value are shown
    int width = nominal_width;
    const PatternRaster* moving = nullptr;  // as in StagePicture
};

[[nodiscard]] PictureSize size_of(const GraphPicture& picture);
void draw(Canvas& canvas, const GraphPicture& picture);

}  // namespace workbench
