#include "viz/stage_picture.hpp"

#include <algorithm>
#include <stdexcept>

#include "viz/length_strip.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

constexpr int picture_width = 1440;
constexpr int picture_height = 1080;
constexpr int margin = 48;
constexpr int pattern_left = 112;
constexpr int pattern_side = 2 * picture_resolution;
constexpr int wide_side = 3 * picture_resolution;  // of a pattern so low that the caption stands below it
constexpr int pattern_top = 184;
constexpr int strip_gap = 20;
constexpr int strip_width = 100;
constexpr int wide_strip_width = 80;  // beside a wide pattern
constexpr int stored_width = 76;
constexpr int caption_left = 1164;
constexpr int axis_text = 17;

constexpr int legend_height = 72;
constexpr int closest_pitch = 44;
constexpr int widest_pitch = 66;

/// Where the caption stands: in a column beside the pattern, or in rows below one that is low and wide.
struct CaptionPlace {
    int x = 0;
    int y = 0;
    int columns = 1;
    int column_width = picture_width - margin - caption_left;
    int pitch = 0;

    [[nodiscard]] int bottom(std::size_t lines) const { return y + (static_cast<int>(lines) + columns - 1) / columns * pitch; }
};

/// So low that the caption does not fit beside the pattern.
bool is_low(const PatternRaster& raster) { return pattern_box(raster, 0, 0, pattern_side).height * 5 < pattern_side * 2; }

/// A low pattern takes the width that the caption leaves free, unless there are strips for two.
Box place_pattern(const PatternRaster& raster) {
    const int side = is_low(raster) && raster.stored_total.empty() ? wide_side : pattern_side;
    return pattern_box(raster, pattern_left, pattern_top, side);
}

CaptionPlace caption_place(const Box& pattern, bool low, std::size_t lines) {
    if (low) {
        constexpr int columns = 5;
        constexpr int width = (picture_width - margin - pattern_left) / columns;
        return {pattern.x, pattern.bottom() + legend_height + margin, columns, width, widest_pitch};
    }
    const int room = picture_height - pattern_top - margin;
    CaptionPlace place{caption_left, pattern_top};
    place.pitch = std::clamp(room / std::max(1, static_cast<int>(lines)), closest_pitch, widest_pitch);
    return place;
}

/// A long value is written smaller before it is cut.
int value_size(const std::string& value, int width) {
    int size = 24;
    while (size > 15 && text_width(value, size) > width) --size;
    return size;
}

void draw_line(Image& image, const CaptionLine& line, int x, int y, int width) {
    draw_text(image, x, y + 14, shortened(line.label, 16, width), {16, style::muted});
    const int size = value_size(line.value, width);
    const std::string value = shortened(line.value, size, width);
    draw_text(image, x, y + 39, value, {size, style::ink});
    if (line.before.empty() || line.before == line.value) return;
    const std::string before = "was " + line.before;
    const int used = text_width(value, size) + 10;
    if (used + text_width(before, 16) <= width) draw_text(image, x + used, y + 39, before, {16, style::muted});
}

void draw_caption(Image& image, const std::vector<CaptionLine>& lines, const CaptionPlace& place) {
    int number = 0;
    for (const CaptionLine& line : lines) {
        draw_line(image, line, place.x + number % place.columns * place.column_width,
                  place.y + number / place.columns * place.pitch, place.column_width - (place.columns > 1 ? 24 : 0));
        ++number;
    }
}

void draw_strips(Image& image, const PatternRaster& raster, const Box& pattern) {
    const int width = pattern.width > pattern_side ? wide_strip_width : strip_width;
    const Box box{pattern.right() + strip_gap, pattern.y, width, pattern.height};
    const LengthStrip lengths = row_lengths(raster);
    draw_strip(image, lengths, box);
    draw_strip_axis(image, lengths, box, axis_text);

    const LengthStrip stored = stored_row_lengths(raster);
    if (stored.bars.empty()) return;
    const Box stored_box{box.right() + strip_gap, box.y, stored_width, box.height};
    draw_strip(image, stored, stored_box);
    draw_strip_axis(image, stored, stored_box, axis_text);
}

}  // namespace

Image draw_stage(const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption) {
    if (std::max(raster.row_bins(), raster.column_bins()) > picture_resolution) {
        throw std::invalid_argument("draw_stage: the raster is finer than picture_resolution");
    }
    const Box pattern = place_pattern(raster);
    const CaptionPlace place = caption_place(pattern, is_low(raster), caption.lines.size());
    const int caption_bottom = place.bottom(caption.lines.size()) + margin;
    const bool low = place.columns > 1;
    Image image = blank_image(picture_width, low ? caption_bottom : std::max(picture_height, caption_bottom));

    constexpr int text_room = picture_width - 2 * margin;
    draw_text(image, margin, 82, shortened(caption.title, 42, text_room), {42, style::ink});
    draw_text(image, margin, 116, shortened(caption.subtitle, 21, text_room), {21, style::muted});

    draw_pattern(image, raster, scale, pattern);
    draw_axes(image, raster, pattern, axis_text);
    draw_strips(image, raster, pattern);
    const int legend_top = pattern.bottom() + 24;
    const int legend_end = draw_legend(image, raster, scale, pattern.x, legend_top, axis_text);
    if (!raster.shows_entries()) {
        draw_strip_legend(image, std::max(legend_end, pattern.right() + strip_gap), legend_top, axis_text);
    }
    draw_caption(image, caption.lines, place);
    return image;
}

}  // namespace workbench
