#include "viz/stage_picture.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text/words.hpp"
#include "viz/length_strip.hpp"
#include "viz/pattern_view.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

// In nominal lengths (Unit).
constexpr int margin = 48;
constexpr int pattern_left = 116;
constexpr int pattern_top = 180;
constexpr int pattern_side = 2 * picture_resolution;
constexpr int wide_side = 4 * picture_resolution;  // of a flat pattern with the caption below
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

/// True if the pattern is so flat that the caption does not fit beside it.
bool is_flat(const PatternRaster& raster) {
    const Box box = pattern_box(raster, 0, 0, pattern_side);
    return box.height * 5 < pattern_side * 2;
}

/// A flat pattern also takes the width of the caption.
Box place_pattern(const PatternRaster& raster, Unit unit) {
    const Box beside = pattern_box(raster, unit(pattern_left), unit(pattern_top), unit(pattern_side));
    if (!is_flat(raster) || !raster.stored_total.empty()) return beside;
    Box best = beside;
    for (int side = unit(pattern_side); side <= unit(wide_side); side += std::max(1, raster.column_bins())) {
        const Box wider = pattern_box(raster, beside.x, beside.y, side);
        if (wider.width <= unit(wide_side) && wider.height <= unit(wide_height)) best = wider;
    }
    return best;
}

/// The caption beside the pattern, or below a flat one.
struct CaptionPlace {
    Box box;
    int columns = 2;
    int pitch = 0;
    double scale = 1;  // of the text
};

CaptionPlace caption_place(const Box& pattern, bool flat, std::size_t lines, Unit unit) {
    constexpr int widest_pitch = 84;
    const int bottom = unit(nominal_height - 50);
    CaptionPlace place;
    if (flat) {
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

void draw_caption(Canvas& canvas, const std::vector<CaptionLine>& lines, const CaptionPlace& place, Unit unit) {
    const int width = place.box.width / place.columns;
    const Unit scaled{unit.pixels * place.scale};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const int number = static_cast<int>(i);
        const int x = place.box.x + number % place.columns * width;
        const int y = place.box.y + number / place.columns * place.pitch;
        draw_caption_line(canvas, lines[i], {x, y, width - unit(20), scaled(22)}, scaled);
    }
}

void draw_strips(Canvas& canvas, const PatternRaster& raster, const Box& pattern, Unit unit) {
    const Box box{pattern.right() + unit(strip_gap), pattern.y, unit(strip_width), pattern.height};
    const LengthStrip lengths = row_lengths(raster, box.height);
    draw_strip(canvas, lengths, box);
    draw_strip_axis(canvas, lengths, box, unit(legend_text));

    const LengthStrip stored = stored_row_lengths(raster);
    if (stored.bars.empty()) return;
    const Box stored_box{box.right() + unit(strip_gap), box.y, unit(stored_width), box.height};
    draw_strip(canvas, stored, stored_box);
    draw_strip_axis(canvas, stored, stored_box, unit(legend_text));
}

void draw_notes(Canvas& canvas, const StagePicture& picture, const std::vector<std::string>& notes, const TextPlace& place,
                Unit unit) {
    const auto [x, y, width, size] = place;
    int baseline = draw_legend(canvas, picture.raster, picture.scale, place) + unit(12);
    if (!picture.raster.shows_entries()) {
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
    const int width = unit(nominal_width - 2 * margin);
    canvas.text(unit(margin), unit(62), caption.title, {unit(46), style::ink, Align::left, width});
    canvas.text(unit(margin), unit(104), caption.subtitle, {unit(28), style::muted, Align::left, width});
    canvas.text(unit(margin), unit(foot_baseline), caption.origin, {unit(22), style::muted, Align::left, width, unit(18)});
}

}  // namespace

void draw_caption_line(Canvas& canvas, const CaptionLine& line, const TextPlace& place, Unit unit) {
    if (line.value == "-") return;
    const auto [x, y, width, small] = place;
    canvas.text(x, y + unit(20), line.label, {small, style::muted, Align::left, width});
    const int size = fitting_size(line.value, unit(32), unit(18), width);
    const std::string value = shortened(line.value, size, width);
    canvas.text(x, y + unit(54), value, {size, style::ink});
    if (line.before.empty() || line.before == "-" || line.before == line.value) return;
    const std::string before = "was " + line.before;
    const int used = text_width(value, size) + unit(10);
    if (used + text_width(before, small) <= width) canvas.text(x + used, y + unit(54), before, {small, style::muted});
}

int stage_resolution(int width) { return resolution_for(unit_of(width)(pattern_side)); }

PictureSize size_of(const StagePicture& picture) { return {picture.width, height_of(picture.width)}; }

void draw(Canvas& canvas, const StagePicture& picture) {
    const auto& [raster, scale, caption, width, moving] = picture;
    const Unit unit = unit_of(width);
    if (std::max(raster.row_bins(), raster.column_bins()) > unit(pattern_side)) {
        throw std::invalid_argument("a stage picture needs at least one pixel per bin of its raster");
    }
    draw_head(canvas, caption, unit);
    const Box pattern = place_pattern(raster, unit);
    const PatternRaster& shown = moving == nullptr ? raster : *moving;
    draw_pattern(canvas, {shown, scale, pattern, unit});
    draw_axes(canvas, shown, pattern, unit(legend_text));
    const bool flat = is_flat(raster);
    const CaptionPlace place = caption_place(pattern, flat, caption.lines.size(), unit);
    draw_strips(canvas, raster, pattern, unit);
    std::vector<std::string> notes = pattern_notes(raster, pattern);
    if (!flat && !raster.column_cuts.empty() && !raster.shows_entries()) {
        const Box below{pattern.x, pattern.bottom() + unit(column_strip_gap), pattern.width, unit(column_strip_height)};
        const double highest = draw_column_lengths(canvas, raster, below);
        if (highest > 0) notes.push_back(fmt::format("below: mean column lengths, up to {:.4g}", highest));
    }
    if (caption.left_out > 0) {
        notes.push_back(counted(caption.left_out, "more figure") + " in report.json");
    }
    draw_caption(canvas, caption.lines, place, unit);
    const int x = flat ? pattern.x : place.box.x;
    const int y = flat ? pattern.bottom() + unit(24) : place.box.bottom() + unit(8);
    draw_notes(canvas, picture, notes, {x, y, unit(nominal_width - margin) - x, unit(legend_text)}, unit);
}

}  // namespace workbench
