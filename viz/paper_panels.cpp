#include "viz/paper_panels.hpp"

#include <algorithm>
#include <string>

#include "core/text/text_table.hpp"
#include "viz/graph_picture.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int panel_gap = 16 * PaperPanels::fineness;
constexpr int panel_label_size = 15 * PaperPanels::fineness;  // 7.5 points, as in charts for a paper
constexpr int panel_label_height = 26 * PaperPanels::fineness;
constexpr int panel_label_baseline = 19 * PaperPanels::fineness;

int columns_of_panels(std::size_t panels) { return panels == 1 ? 1 : panels == 2 || panels == 4 ? 2 : 3; }

bool has_scale(const PaperPanel& panel) {
    const auto* graph = std::get_if<PaperGraph>(&panel.content);
    return graph != nullptr && graph->colours.by != GraphColouring::pieces;
}

/// The height below panels.
int label_of_panels(const PaperPanels& figure) {
    const int name = figure.panels.size() == 1 ? 0 : panel_label_height;
    return name + (std::ranges::any_of(figure.panels, has_scale) ? panel_label_height : 0);
}

Box box_of_panel(const PaperPanels& figure, std::size_t number) {
    const int columns = columns_of_panels(figure.panels.size());
    const int side = panel_side(figure.panels.size(), figure.width);
    const auto at = static_cast<int>(number);
    return {at % columns * (side + panel_gap), at / columns * (side + label_of_panels(figure) + panel_gap), side, side};
}

/// The lowest number, the colours and the highest number, around the middle x.
void draw_scale(Canvas& canvas, const GraphColours& colours, int x, int baseline) {
    constexpr int parts = 64;
    constexpr int part = PaperPanels::fineness;
    const int left = x - parts * part / 2;
    for (int i = 0; i < parts; ++i) {
        canvas.box(Box{left + i * part, baseline - panel_label_size * 3 / 4, part, panel_label_size * 3 / 4},
                   colours.scale_colour(static_cast<double>(i) / (parts - 1)));
    }
    constexpr int space = 5 * PaperPanels::fineness;
    canvas.text(left - space, baseline, with_commas(colours.lowest), {panel_label_size, style::ink, Align::right});
    canvas.text(left + parts * part + space, baseline, with_commas(colours.highest), {panel_label_size, style::ink});
}

void draw_panel(Canvas& canvas, const PaperPanels& figure, const PaperPanel& panel, const Box& place) {
    constexpr Unit unit{PaperPanels::fineness / 2.0};
    if (const auto* graph = std::get_if<PaperGraph>(&panel.content)) {
        draw_graph(canvas, graph->graph, graph->colours, place, unit, PaperPanels::fineness);
        return;
    }
    const auto& raster = std::get<PatternRaster>(panel.content);
    Box pattern = pattern_box(raster, place.x, place.y, place.width);
    pattern.x += (place.width - pattern.width) / 2;
    draw_pattern(canvas, {raster, figure.scale, pattern, unit});
}

}  // namespace

int panel_side(std::size_t panels, int width) {
    const int columns = columns_of_panels(panels);
    return (width - (columns - 1) * panel_gap) / columns;
}

PictureSize size_of(const PaperPanels& figure) {
    const std::size_t count = figure.panels.size();
    return {figure.width, box_of_panel(figure, count - 1).bottom() + label_of_panels(figure)};
}

void draw(Canvas& canvas, const PaperPanels& figure) {
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        const PaperPanel& panel = figure.panels[i];
        const Box place = box_of_panel(figure, i);
        const int middle = place.x + place.width / 2;
        draw_panel(canvas, figure, panel, place);
        if (has_scale(panel)) {
            draw_scale(canvas, std::get<PaperGraph>(panel.content).colours, middle,
                       place.bottom() + label_of_panels(figure) - panel_label_height + panel_label_baseline);
        }
        if (figure.panels.size() == 1) continue;
        const std::string label = std::string{'(', static_cast<char>('a' + i), ')', ' '} + panel.name;
        canvas.text(middle, place.bottom() + panel_label_baseline, label,
                    {panel_label_size, style::ink, Align::centre, place.width});
    }
}

}  // namespace workbench
