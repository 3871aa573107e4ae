#include "viz/paper_panels.hpp"

#include <algorithm>
#include <string>

#include "viz/pattern_view.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int panel_gap = 16 * PaperPanels::fineness;
constexpr int panel_label_size = 15 * PaperPanels::fineness;  // 7.5 points, as in charts for a paper
constexpr int panel_label_height = 26 * PaperPanels::fineness;
constexpr int panel_label_baseline = 19 * PaperPanels::fineness;

int columns_of_panels(std::size_t panels) { return panels == 1 ? 1 : panels == 2 || panels == 4 ? 2 : 3; }
int label_of_panels(std::size_t panels) { return panels == 1 ? 0 : panel_label_height; }

Box box_of_panel(const PaperPanels& figure, std::size_t number) {
    const int columns = columns_of_panels(figure.panels.size());
    const int side = panel_side(figure.panels.size(), figure.width);
    const auto at = static_cast<int>(number);
    return {at % columns * (side + panel_gap), at / columns * (side + label_of_panels(figure.panels.size()) + panel_gap), side,
            side};
}

}  // namespace

int panel_side(std::size_t panels, int width) {
    const int columns = columns_of_panels(panels);
    return (width - (columns - 1) * panel_gap) / columns;
}

PictureSize size_of(const PaperPanels& figure) {
    const std::size_t count = figure.panels.size();
    return {figure.width, box_of_panel(figure, count - 1).bottom() + label_of_panels(count)};
}

void draw(Canvas& canvas, const PaperPanels& figure) {
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        const PatternRaster& raster = figure.panels[i].raster;
        const Box place = box_of_panel(figure, i);
        Box pattern = pattern_box(raster, place.x, place.y, place.width);
        pattern.x += (place.width - pattern.width) / 2;
        draw_pattern(canvas, {raster, figure.scale, pattern, Unit{PaperPanels::fineness / 2.0}});
        if (figure.panels.size() == 1) continue;
        const std::string label = std::string{'(', static_cast<char>('a' + i), ')', ' '} + figure.panels[i].name;
        canvas.text(place.x + place.width / 2, place.bottom() + panel_label_baseline, label,
                    {panel_label_size, style::ink, Align::centre, place.width});
    }
}

}  // namespace workbench
