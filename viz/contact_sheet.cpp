#include "viz/contact_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "viz/density_scale.hpp"
#include "viz/length_strip.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

// Lengths are those of a sheet of 1920 x 1080 (Unit).
constexpr int margin = sheet_margin;
constexpr int column_gap = 42;
constexpr int row_gap = 22;
constexpr int head_height = 116;
constexpr int foot_height = 102;
constexpr int frame_head = 72;
constexpr int second_line = 26;  // of the parameters, where they are long
constexpr int strip_gap = 10;
constexpr int strip_width = 46;
constexpr int stored_width = 32;
constexpr int number_room = 34;  // for the row and column numbers of a small matrix
constexpr int caption_width = 184;
constexpr int caption_pitch = 62;
constexpr int line_height = 32;
constexpr int text_size = 22;

/// Where the frames lie, in units.
struct Plan {
    int columns = 1;
    int cell_width = 0;
    int cell_height = 0;
    int side = 0;  // of the patterns
    int head = frame_head;
    std::size_t lines = 0;
    bool captions_beside = false;
    int strips = 0;   // the room that they take
    int numbers = 0;  // the same of row and column numbers

    [[nodiscard]] int x(int frame) const { return margin + frame % columns * (cell_width + column_gap); }
    [[nodiscard]] int y(int frame) const { return head_height + frame / columns * (cell_height + row_gap); }
};

/// Among all grids, and with captions beside or below the patterns, whichever makes the patterns largest. A line of the caption
/// is worth some of a pattern's size.
Plan plan_of(const SheetShape& shape) {
    const int count = static_cast<int>(shape.frames);
    Plan best;
    double best_score = -1;
    for (int columns = 1; columns <= count; ++columns) {
        const int rows = (count + columns - 1) / columns;
        for (std::size_t lines = 0; lines <= shape.lines; ++lines) {
            for (const bool beside : {true, false}) {
                Plan plan{columns, (nominal_width - 2 * margin - (columns - 1) * column_gap) / columns,
                          (nominal_height - shape.reserved - head_height - foot_height - (rows - 1) * row_gap) / rows};
                plan.lines = lines;
                plan.captions_beside = beside && lines > 0;
                plan.strips = strip_gap + strip_width + (shape.stored ? strip_gap + stored_width : 0);
                plan.numbers = shape.entries ? number_room : 0;
                const int length = static_cast<int>(lines);
                int width = plan.cell_width - plan.strips - plan.numbers;
                plan.head = frame_head + (shape.subtitle > plan.cell_width ? second_line : 0);
                int height = plan.cell_height - plan.head - plan.numbers;
                if (plan.captions_beside) {
                    width -= 2 * strip_gap + caption_width;
                    if (length * caption_pitch > height) continue;
                } else if (lines > 0) {
                    height -= strip_gap + length * line_height;
                }
                plan.side = std::min(width, height);
                const double score = plan.side * (1 + 0.15 * length);
                if (plan.side < 16 || score <= best_score) continue;
                best = plan;
                best_score = score;
            }
        }
    }
    best.side = std::max(best.side, 16);
    return best;
}

Unit unit_of(int width) { return {static_cast<double>(width) / nominal_width}; }

int longest_side(std::span<const StageFrame> frames) {
    int bins = 1;
    for (const StageFrame& frame : frames) bins = std::max({bins, frame.raster.row_bins(), frame.raster.column_bins()});
    return bins;
}

void draw_lines_below(Canvas& canvas, const std::vector<CaptionLine>& lines, const Box& box, Unit unit) {
    const int size = unit(text_size);
    int baseline = box.y + unit(24);
    for (const CaptionLine& line : lines) {
        const bool unchanged = line.before == line.value;
        const std::string value = shortened(line.value, size, box.width / 2);
        const int room = box.width - text_width(value, size) - unit(8);
        canvas.text(box.x, baseline, shortened(line.label, size, room), {size, style::muted});
        canvas.text(box.right(), baseline, value, {size, unchanged ? style::muted : style::ink, Align::right});
        canvas.box(box.x, baseline + unit(7), box.width, 1, style::hairline);
        baseline += unit(line_height);
    }
}

void draw_lines_beside(Canvas& canvas, const std::vector<CaptionLine>& lines, const Box& box, Unit unit) {
    const int size = unit(text_size);
    int y = box.y;
    for (const CaptionLine& line : lines) {
        const bool unchanged = line.before == line.value;
        const int fitting = fitting_size(line.label, size, unit(16), box.width);
        canvas.text(box.x, y + unit(18), shortened(line.label, fitting, box.width), {fitting, style::muted});
        canvas.text(box.x, y + unit(47), shortened(line.value, unit(28), box.width),
                    {unit(28), unchanged ? style::muted : style::ink});
        y += unit(caption_pitch);
    }
}

void draw_frame(Canvas& canvas, const StageFrame& frame, const DensityScale& scale, const Plan& plan, int number, Unit unit) {
    const int x = unit(plan.x(number));
    const int y = unit(plan.y(number));
    const int width = unit(plan.cell_width);
    canvas.text(x, y + unit(26), shortened(frame.caption.title, unit(30), width), {unit(30), style::ink});
    const int size = unit(text_size);
    int baseline = y + unit(56);
    for (const std::string& line : wrapped(frame.caption.subtitle, size, width, plan.head > frame_head ? 2 : 1)) {
        canvas.text(x, baseline, line, {size, style::muted});
        baseline += unit(second_line);
    }

    const Box pattern = pattern_box(frame.raster, x + unit(plan.numbers), y + unit(plan.head + plan.numbers), unit(plan.side));
    draw_pattern(canvas, frame.raster, scale, pattern, unit);
    if (frame.raster.shows_entries()) draw_axes(canvas, frame.raster, pattern, unit(20));
    const Box strip{pattern.right() + unit(strip_gap), pattern.y, unit(strip_width), pattern.height};
    draw_strip(canvas, row_lengths(frame.raster), strip);
    const int second = plan.strips > strip_gap + strip_width ? unit(strip_gap + stored_width) : 0;
    if (second > 0) {
        draw_strip(canvas, stored_row_lengths(frame.raster),
                   {strip.right() + unit(strip_gap), strip.y, unit(stored_width), strip.height});
    }
    std::vector<CaptionLine> lines = frame.caption.lines;
    if (lines.size() > plan.lines) lines.resize(plan.lines);
    const int right = strip.right() + second;
    if (plan.captions_beside) {
        const int left = right + unit(2 * strip_gap);
        draw_lines_beside(canvas, lines, {left, pattern.y, x + width - left, 0}, unit);
    } else {
        draw_lines_below(canvas, lines, {x, pattern.bottom() + unit(strip_gap), std::max(right - x, width * 3 / 4), 0}, unit);
    }
    if (number == 0) return;
    const int middle = number % plan.columns == 0 ? x - unit(margin / 2) : x - unit(column_gap / 2);
    canvas.text(middle, pattern.y + pattern.height / 2 + unit(10), "→", {unit(34), style::faint, Align::centre});
}

/// What bars, lines and lines that are not there mean.
std::string notes_of(const PatternRaster& raster, const Box& pattern) {
    std::string notes = raster.tiles > 0 ? "bars: row lengths, in tiles where there are tiles" : "bars: row lengths";
    if (!raster.shows_entries()) notes += ", the longest light, the mean dark";
    if (row_lengths(raster).logarithmic) notes += ", on a logarithmic axis";
    if (!raster.stored_total.empty()) notes += "; second bars: the rows of “" + raster.plane_names[1] + "” as they are stored";
    for (const std::string& note : pattern_notes(raster, pattern)) notes += "; " + note;
    return notes;
}

}  // namespace

SheetShape shape_of(std::span<const StageFrame> frames, int reserved) {
    SheetShape shape{frames.size()};
    shape.reserved = reserved;
    for (const StageFrame& frame : frames) {
        shape.lines = std::max(shape.lines, frame.caption.lines.size());
        shape.subtitle = std::max(shape.subtitle, text_width(frame.caption.subtitle, text_size));
        shape.entries = shape.entries || frame.raster.shows_entries();
        shape.stored = shape.stored || !frame.raster.stored_total.empty();
    }
    return shape;
}

int sheet_resolution(const SheetShape& shape, int width) {
    const int side = unit_of(width)(plan_of(shape).side);
    const int pixels = (side + picture_resolution - 1) / picture_resolution;
    return std::max(16, side / std::max(pixels, 1));
}

int sheet_width(std::span<const StageFrame> frames, int reserved) {
    const double side = plan_of(shape_of(frames, reserved)).side;
    const int bins = longest_side(frames);
    if (bins <= side && std::floor(side / bins) * bins >= 0.9 * side) return nominal_width;
    if (bins <= largest_shown_by_entry) return nominal_width;
    const double pixels = std::ceil(side / bins) * bins;
    return static_cast<int>(std::ceil(pixels / side * nominal_width / 16)) * 16;
}

void contact_sheet(Canvas& canvas, std::span<const StageFrame> frames, const DensityScale& scale, const SheetHead& head,
                   int width, int reserved) {
    if (frames.empty()) throw std::invalid_argument("contact_sheet: there are no stages");
    const Plan plan = plan_of(shape_of(frames, reserved));
    const Unit unit = unit_of(width);
    if (longest_side(frames) > std::max(unit(plan.side), 16)) {
        throw std::invalid_argument("contact_sheet: a raster is finer than the sheet");
    }
    const int text_room = unit(nominal_width - 2 * margin);
    canvas.text(unit(margin), unit(60), shortened(head.title, unit(46), text_room), {unit(46), style::ink});
    const int origin = fitting_size(head.origin, unit(24), unit(18), text_room);
    canvas.text(unit(margin), unit(98), shortened(head.origin, origin, text_room), {origin, style::muted});
    for (std::size_t number = 0; number < frames.size(); ++number) {
        draw_frame(canvas, frames[number], scale, plan, static_cast<int>(number), unit);
    }
    // The stage with the most hues, or with tiles, explains them all.
    const auto told = [](const PatternRaster& raster) {
        return std::tuple(raster.plane_names.size(), raster.tiles, raster.pieces.size());
    };
    const auto most = std::max_element(frames.begin(), frames.end(), [&](const StageFrame& a, const StageFrame& b) {
        return told(a.raster) < told(b.raster);
    });
    const int top = unit(nominal_height - reserved - foot_height + 12);
    draw_legend(canvas, most->raster, scale, unit(margin), top, unit(text_size), text_room);
    const std::string notes = notes_of(most->raster, pattern_box(most->raster, 0, 0, unit(plan.side)));
    const int size = fitting_size(notes, unit(text_size), unit(16), text_room);
    canvas.text(unit(margin), unit(nominal_height - reserved - 14), shortened(notes, size, text_room), {size, style::muted});
}

Image contact_sheet(std::span<const StageFrame> frames, const DensityScale& scale, const SheetHead& head, int width,
                    int reserved) {
    if (width == 0) width = sheet_width(frames, reserved);
    RasterCanvas canvas(width, height_of(width));
    contact_sheet(canvas, frames, scale, head, width, reserved);
    return canvas.image();
}

}  // namespace workbench
