#include "viz/stage_picture.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "viz/length_strip.hpp"
#include "viz/pattern_view.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

// Lengths are those of a picture of 1920 x 1080 (Unit).
constexpr int margin = 48;
constexpr int pattern_left = 116;
constexpr int pattern_top = 180;
constexpr int pattern_side = 2 * picture_resolution;
constexpr int wide_side = 4 * picture_resolution;  // of a pattern so low that the caption stands below it
constexpr int wide_height = 400;
constexpr int strip_gap = 20;
constexpr int strip_width = 110;
constexpr int stored_width = 90;
constexpr int caption_left = 1220;
constexpr int column_strip_gap = 6;
constexpr int column_strip_height = 46;
constexpr int legend_text = 22;
constexpr int legend_height = 262;
constexpr int foot_baseline = nominal_height - 22;

/// So low that the caption does not fit beside the pattern.
bool is_low(const PatternRaster& raster) {
    const Box box = pattern_box(raster, 0, 0, pattern_side);
    return box.height * 5 < pattern_side * 2;
}

/// A low pattern takes the width that the caption leaves free.
Box place_pattern(const PatternRaster& raster, Unit unit) {
    const Box beside = pattern_box(raster, unit(pattern_left), unit(pattern_top), unit(pattern_side));
    if (!is_low(raster) || !raster.stored_total.empty()) return beside;
    Box best = beside;
    for (int side = unit(pattern_side); side <= unit(wide_side); side += std::max(1, raster.column_bins())) {
        const Box wider = pattern_box(raster, beside.x, beside.y, side);
        if (wider.width <= unit(wide_side) && wider.height <= unit(wide_height)) best = wider;
    }
    return best;
}

/// Where the caption stands: in columns beside the pattern, or below one that is low and wide.
struct CaptionPlace {
    Box box;
    int columns = 2;
    int pitch = 0;
    double scale = 1;  // of the text
};

CaptionPlace caption_place(const Box& pattern, bool low, std::size_t lines, Unit unit) {
    constexpr int widest_pitch = 84;
    const int bottom = unit(nominal_height - 50);
    CaptionPlace place;
    if (low) {
        const int top = pattern.bottom() + unit(190);  // below the legend and the notes
        place.columns = 5;
        place.box = {pattern.x, top, unit(nominal_width - margin) - pattern.x, bottom - top};
    } else {
        const int top = unit(pattern_top - 28);
        place.box = {unit(caption_left), top, unit(nominal_width - margin - caption_left), bottom - unit(legend_height) - top};
    }
    const int rows = std::max(1, (static_cast<int>(lines) + place.columns - 1) / place.columns);
    place.pitch = std::min(unit(widest_pitch), place.box.height / rows);
    place.scale = std::min(1.0, static_cast<double>(place.pitch) / unit(68));
    return place;
}

void draw_line(Canvas& canvas, const CaptionLine& line, int x, int y, int width, Unit unit) {
    const int small = unit(22);
    canvas.text(x, y + unit(20), shortened(line.label, small, width), {small, style::muted});
    // A long value is written smaller before it is cut.
    const int size = fitting_size(line.value, unit(32), unit(18), width);
    const std::string value = shortened(line.value, size, width);
    canvas.text(x, y + unit(54), value, {size, style::ink});
    if (line.before.empty() || line.before == line.value) return;
    const std::string before = "was " + line.before;
    const int used = text_width(value, size) + unit(10);
    if (used + text_width(before, small) <= width) canvas.text(x + used, y + unit(54), before, {small, style::muted});
}

void draw_caption(Canvas& canvas, const std::vector<CaptionLine>& lines, const CaptionPlace& place, Unit unit) {
    const int width = place.box.width / place.columns;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const int number = static_cast<int>(i);
        draw_line(canvas, lines[i], place.box.x + number % place.columns * width,
                  place.box.y + number / place.columns * place.pitch, width - unit(20), {unit.pixels * place.scale});
    }
}

void draw_strips(Canvas& canvas, const PatternRaster& raster, const Box& pattern, Unit unit) {
    const Box box{pattern.right() + unit(strip_gap), pattern.y, unit(strip_width), pattern.height};
    const LengthStrip lengths = row_lengths(raster);
    draw_strip(canvas, lengths, box);
    draw_strip_axis(canvas, lengths, box, unit(legend_text));

    const LengthStrip stored = stored_row_lengths(raster);
    if (stored.bars.empty()) return;
    const Box stored_box{box.right() + unit(strip_gap), box.y, unit(stored_width), box.height};
    draw_strip(canvas, stored, stored_box);
    draw_strip_axis(canvas, stored, stored_box, unit(legend_text));
}

/// What the hues mean, and what is not shown.
void draw_notes(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const std::vector<std::string>& notes,
                int x, int y, Unit unit) {
    const int size = unit(legend_text);
    const int width = unit(nominal_width - margin) - x;
    int baseline = draw_legend(canvas, raster, scale, x, y, size, width).bottom + unit(12);
    if (!raster.shows_entries()) {
        draw_strip_legend(canvas, x, baseline, size);
        baseline += size;
    }
    for (const std::string& note : notes) {
        for (const std::string& line : wrapped(note, size, width, 3)) {
            baseline += unit(30);
            canvas.text(x, baseline, line, {size, style::muted});
        }
    }
}

void draw_head(Canvas& canvas, const StageCaption& caption, Unit unit) {
    const int room = unit(nominal_width - 2 * margin);
    canvas.text(unit(margin), unit(62), shortened(caption.title, unit(46), room), {unit(46), style::ink});
    canvas.text(unit(margin), unit(104), shortened(caption.subtitle, unit(28), room), {unit(28), style::muted});
    const int origin = fitting_size(caption.origin, unit(22), unit(18), room);
    canvas.text(unit(margin), unit(foot_baseline), shortened(caption.origin, origin, room), {origin, style::muted});
}

}  // namespace

int height_of(int width) { return width * nominal_height / nominal_width; }

int stage_resolution(int width) {
    const int side = Unit{static_cast<double>(width) / nominal_width}(pattern_side);
    const int pixels = (side + picture_resolution - 1) / picture_resolution;
    return std::max(16, side / std::max(pixels, 1));
}

void draw_stage(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption,
                int width) {
    const Unit unit{static_cast<double>(width) / nominal_width};
    if (std::max(raster.row_bins(), raster.column_bins()) > unit(pattern_side)) {
        throw std::invalid_argument("draw_stage: the raster is finer than the picture");
    }
    draw_head(canvas, caption, unit);
    const Box pattern = place_pattern(raster, unit);
    draw_pattern(canvas, raster, scale, pattern, unit);
    draw_axes(canvas, raster, pattern, unit(legend_text));
    draw_strips(canvas, raster, pattern, unit);
    const bool low = is_low(raster);
    std::vector<std::string> notes = pattern_notes(raster, pattern);
    if (!low && !raster.column_cuts.empty() && !raster.shows_entries()) {
        const Box below{pattern.x, pattern.bottom() + unit(column_strip_gap), pattern.width, unit(column_strip_height)};
        const double highest = draw_column_lengths(canvas, raster, below);
        if (highest > 0) notes.push_back(fmt::format("below: mean column lengths, up to {:.4g}", highest));
    }
    if (caption.left_out > 0) notes.push_back(fmt::format("{} more figures in report.json", caption.left_out));
    const CaptionPlace place = caption_place(pattern, low, caption.lines.size(), unit);
    draw_caption(canvas, caption.lines, place, unit);
    if (low) {
        draw_notes(canvas, raster, scale, notes, pattern.x, pattern.bottom() + unit(24), unit);
    } else {
        draw_notes(canvas, raster, scale, notes, place.box.x, place.box.bottom() + unit(8), unit);
    }
}

Image draw_stage(const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption, int width) {
    RasterCanvas canvas(width, height_of(width));
    draw_stage(canvas, raster, scale, caption, width);
    return canvas.image();
}

Image draw_between(const PatternRaster& between, const PatternRaster& stage, const DensityScale& scale,
                   const StageCaption& caption, int width) {
    const Unit unit{static_cast<double>(width) / nominal_width};
    RasterCanvas canvas(width, height_of(width));
    draw_head(canvas, caption, unit);
    const Box pattern = place_pattern(stage, unit);
    draw_pattern(canvas, between, scale, pattern, unit);
    draw_axes(canvas, between, pattern, unit(legend_text));
    draw_caption(canvas, caption.lines, caption_place(pattern, is_low(stage), caption.lines.size(), unit), unit);
    return canvas.image();
}

}  // namespace workbench
