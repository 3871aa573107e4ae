#include "viz/contact_sheet.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "viz/density_scale.hpp"
#include "viz/length_strip.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

constexpr int margin = 64;
constexpr int column_gap = 64;
constexpr int row_gap = 56;
constexpr int most_columns = 3;
constexpr int fewest_columns = 2;  // the titles need some width
constexpr int head_height = 132;
constexpr int frame_head = 72;
constexpr int pattern_side = picture_resolution + 10;
constexpr int strip_gap = 12;
constexpr int strip_width = 46;
constexpr int stored_width = 34;
constexpr int strips_width = 2 * strip_gap + strip_width + stored_width;
constexpr int frame_width = pattern_side + strips_width;
constexpr int line_height = 26;
constexpr int legend_height = 100;
constexpr int text_size = 17;

struct Grid {
    int columns = 1;
    int rows = 1;
    int pattern_height = 0;  // of the highest pattern
    int frame_height = 0;

    [[nodiscard]] int x(int frame) const { return margin + frame % columns * (frame_width + column_gap); }
    [[nodiscard]] int y(int frame) const { return head_height + frame / columns * (frame_height + row_gap); }
    [[nodiscard]] int width() const { return 2 * margin + columns * (frame_width + column_gap) - column_gap; }
    [[nodiscard]] int bottom() const { return head_height + rows * (frame_height + row_gap); }
};

Grid grid_of(std::span<const StageFrame> frames) {
    const int count = static_cast<int>(frames.size());
    Grid grid;
    grid.columns = std::clamp(count, fewest_columns, most_columns);
    grid.rows = (count + grid.columns - 1) / grid.columns;
    std::size_t lines = 0;
    for (const StageFrame& frame : frames) {
        grid.pattern_height = std::max(grid.pattern_height, pattern_box(frame.raster, 0, 0, pattern_side).height);
        lines = std::max(lines, frame.caption.lines.size());
    }
    grid.frame_height = frame_head + grid.pattern_height + 12 + static_cast<int>(lines) * line_height;
    return grid;
}

void draw_lines(Image& image, const std::vector<CaptionLine>& lines, const Box& box) {
    int baseline = box.y + text_size;
    for (const CaptionLine& line : lines) {
        const bool unchanged = line.before == line.value;
        draw_text(image, box.x, baseline, shortened(line.label, text_size, box.width * 6 / 10), {text_size, style::muted});
        const std::string value = shortened(line.value, text_size, box.width * 4 / 10);
        draw_text(image, box.right(), baseline, value, {text_size, unchanged ? style::faint : style::ink, Align::right});
        fill(image, {box.x, baseline + 7, box.width, 1}, style::hairline);
        baseline += line_height;
    }
}

void draw_frame(Image& image, const StageFrame& frame, const DensityScale& scale, const Grid& grid, int number) {
    const int x = grid.x(number);
    const int y = grid.y(number);
    draw_text(image, x, y + 24, shortened(frame.caption.title, 26, frame_width), {26, style::ink});
    draw_text(image, x, y + 50, shortened(frame.caption.subtitle, text_size, frame_width), {text_size, style::muted});

    const Box pattern = pattern_box(frame.raster, x, y + frame_head, pattern_side);
    draw_pattern(image, frame.raster, scale, pattern);
    const Box strip{pattern.right() + strip_gap, pattern.y, strip_width, pattern.height};
    draw_strip(image, row_lengths(frame.raster), strip);
    draw_strip(image, stored_row_lengths(frame.raster), {strip.right() + strip_gap, strip.y, stored_width, strip.height});
    draw_lines(image, frame.caption.lines, {x, y + frame_head + grid.pattern_height + 12, frame_width, 0});

    if (number == 0) return;
    draw_text(image, x - column_gap / 2, pattern.y + pattern.height / 2 + 10, "→", {34, style::faint, Align::centre});
}

void draw_legends(Image& image, const PatternRaster& raster, const DensityScale& scale, int y) {
    draw_legend(image, raster, scale, margin, y, text_size);
    std::string bars = raster.tiles > 0 ? "bars: row lengths, in tiles where there are tiles" : "bars: row lengths";
    if (!raster.shows_entries()) bars += ", the longest light, the mean dark";
    if (row_lengths(raster).logarithmic) bars += ", on a logarithmic axis";
    if (!raster.stored_total.empty()) bars += "; second bars: the rows of “" + raster.plane_names[1] + "” as they are stored";
    draw_text(image, margin, y + text_size * 9 / 2, shortened(bars, text_size, image.width - 2 * margin),
              {text_size, style::muted});
}

}  // namespace

Image contact_sheet(std::span<const StageFrame> frames, const DensityScale& scale, std::string_view title,
                    std::string_view source) {
    if (frames.empty()) throw std::invalid_argument("contact_sheet: there are no stages");
    for (const StageFrame& frame : frames) {
        if (std::max(frame.raster.row_bins(), frame.raster.column_bins()) > picture_resolution) {
            throw std::invalid_argument("contact_sheet: a raster is finer than picture_resolution");
        }
    }
    const Grid grid = grid_of(frames);
    Image image = blank_image(grid.width(), grid.bottom() + legend_height);

    const int text_room = image.width - 2 * margin;
    draw_text(image, margin, 78, shortened(title, 42, text_room), {42, style::ink});
    draw_text(image, margin, 108, shortened(source, 20, text_room), {20, style::muted});
    for (std::size_t number = 0; number < frames.size(); ++number) {
        draw_frame(image, frames[number], scale, grid, static_cast<int>(number));
    }
    // The stage with the most hues, or with tiles, explains them all.
    const auto told = [](const PatternRaster& raster) { return std::pair(raster.plane_names.size(), raster.tiles); };
    const auto most = std::max_element(frames.begin(), frames.end(), [&](const StageFrame& a, const StageFrame& b) {
        return told(a.raster) < told(b.raster);
    });
    draw_legends(image, most->raster, scale, grid.bottom() - row_gap / 2 + 8);
    return image;
}

}  // namespace workbench
