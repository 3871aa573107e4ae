#include "viz/contact_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "viz/length_strip.hpp"
#include "viz/memory_bar.hpp"
#include "viz/palette.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

// In nominal lengths (Unit).
constexpr int sheet_margin = 36;
constexpr int column_gap = 42;
constexpr int row_gap = 22;
constexpr int head_height = 116;
constexpr int foot_height = 102;
constexpr int short_head = 44;  // title and parameters in one line
constexpr std::size_t most_heading_lines = 3;
constexpr int sheet_title_size = 30;
constexpr int title_gap = 20;
constexpr int line_pitch = 28;  // of parameters
constexpr int strip_gap = 10;
constexpr int strip_width = 46;
constexpr int stored_width = 32;
constexpr int numbers_width = 34;  // of the row and column numbers of a small matrix
constexpr int caption_width = 164;
constexpr int note_width = 112;  // of "figures as before" in two lines
constexpr int caption_pitch = 62;
constexpr int value_size = 28;
constexpr int lead_size = 44;  // of the value that a stage changed most
constexpr double least_leading_factor = 1.1;
constexpr int line_height = 32;
constexpr int sheet_text_size = 22;
constexpr int text_width_of_sheet = nominal_width - 2 * sheet_margin;

int reserved_height(bool storage) { return storage ? storage_bar_height : 0; }

/// The places of the frames.
struct SheetPlan {
    int columns = 1;
    int cell_width = 0;
    int cell_height = 0;
    int side = 0;  // of the patterns
    int head = short_head;
    std::size_t lines = 0;
    bool captions_beside = false;
    int numbers = 0;  // width of the row and column numbers

    [[nodiscard]] int x(int frame) const { return sheet_margin + frame % columns * (cell_width + column_gap); }
    [[nodiscard]] int y(int frame) const { return head_height + frame / columns * (cell_height + row_gap); }
};

/// The width of the strips of row lengths.
int strips_width(bool stored) { return strip_gap + strip_width + (stored ? strip_gap + stored_width : 0); }

struct HeadingLine {
    int left = 0;
    std::string text;
};

/// The parameters beside the title, and in lines below; the last of `most` lines may be shortened.
std::vector<HeadingLine> heading_of(const StageCaption& caption, int width, std::size_t most, Unit unit) {
    std::vector<HeadingLine> lines;
    const int size = unit(sheet_text_size);
    int left = text_width(caption.title, unit(sheet_title_size)) + unit(title_gap);
    std::string_view rest = caption.subtitle;
    for (std::size_t line = 1; line <= most && !rest.empty(); ++line, left = 0) {
        const bool is_last = line == most;
        const std::string first = wrapped(rest, size, width - left, is_last ? 1 : 2).front();
        const bool has_room = is_last || !first.ends_with("…");  // for a word beside the title
        lines.push_back({left, has_room ? first : ""});
        if (has_room) rest.remove_prefix(std::min(rest.size(), first.size() + 1));
    }
    return lines;
}

/// The height of title and parameters.
int head_of_frames(const SheetShape& shape, int cell_width) {
    auto lines = static_cast<std::size_t>(shape.headings.empty() ? shape.heading_lines : 1);
    for (const StageFrame& frame : shape.headings) {
        lines = std::max(lines, heading_of(frame.caption, cell_width, most_heading_lines, {}).size());
    }
    return short_head + (static_cast<int>(lines) - 1) * line_pitch;
}

/// The height of stacked lines, of which one has the lead.
int stacked_height(int lines) { return lines == 0 ? 0 : lines * caption_pitch + lead_size - value_size; }

/// The plan with this number of columns and caption lines. Its side is 0 if the captions do not fit.
SheetPlan plan_with(const SheetShape& shape, int columns, std::size_t lines, bool captions_beside) {
    const int rows = (static_cast<int>(shape.frames) + columns - 1) / columns;
    const int height_of_frames = nominal_height - reserved_height(shape.storage) - head_height - foot_height;
    SheetPlan plan{.columns = columns,
                   .cell_width = (text_width_of_sheet - (columns - 1) * column_gap) / columns,
                   .cell_height = (height_of_frames - (rows - 1) * row_gap) / rows,
                   .lines = lines,
                   .captions_beside = captions_beside && lines > 0,
                   .numbers = shape.entries ? numbers_width : 0};
    plan.head = head_of_frames(shape, plan.cell_width);
    int beside = strips_width(shape.stored);
    int height = plan.cell_height - plan.head - plan.numbers;
    const int length = static_cast<int>(lines);
    if (plan.captions_beside) {
        const int second = shape.stored ? strips_width(true) + (shape.stored_captions ? caption_width : note_width) : 0;
        beside = 2 * strip_gap + std::max(strips_width(false) + caption_width, second);
        if (stacked_height(length) > height) return plan;
    } else if (lines > 0) {
        height -= strip_gap + length * line_height;
    }
    plan.side = std::min(plan.cell_width - beside - plan.numbers, height);
    return plan;
}

/// The plan with the largest patterns; a caption line counts as 15 % of a pattern's side.
SheetPlan plan_of(const SheetShape& shape) {
    SheetPlan best;
    double best_score = -1;
    for (int columns = 1; columns <= static_cast<int>(shape.frames); ++columns) {
        for (std::size_t lines = 0; lines <= shape.lines; ++lines) {
            for (const bool beside : {true, false}) {
                const SheetPlan plan = plan_with(shape, columns, lines, beside);
                const double score = plan.side * (1 + 0.15 * static_cast<double>(lines));
                if (plan.side < 16 || score <= best_score) continue;
                best = plan;
                best_score = score;
            }
        }
    }
    best.side = std::max(best.side, 16);
    return best;
}

/// The figures that the stage changed, beginning with the one that it changed most. For the first frame, which has no stage
/// before it, all figures that are known.
std::vector<CaptionLine> shown_lines(const StageCaption& caption, bool is_first) {
    std::vector<CaptionLine> lines;
    for (const CaptionLine& line : caption.lines) {
        if (is_first ? line.value != "-" : line.before != line.value) lines.push_back(line);
    }
    const auto most = std::max_element(lines.begin(), lines.end(),
                                       [](const CaptionLine& a, const CaptionLine& b) { return a.factor < b.factor; });
    if (!is_first && most != lines.end()) std::rotate(lines.begin(), most, most + 1);
    return lines;
}

SheetShape shape_of(const ContactSheet& sheet) {
    SheetShape shape{.frames = sheet.frames.size(), .storage = sheet.storage != nullptr, .headings = sheet.frames};
    for (const StageFrame& frame : sheet.frames) {
        const std::size_t lines = shown_lines(frame.caption, &frame == &sheet.frames.front()).size();
        const bool stored = !frame.raster.stored_total.empty();
        shape.lines = std::max(shape.lines, lines);
        shape.entries = shape.entries || frame.raster.shows_entries();
        shape.stored = shape.stored || stored;
        shape.stored_captions = shape.stored_captions || (stored && lines > 0);
    }
    return shape;
}

int longest_side(std::span<const StageFrame> frames) {
    int bins = 1;
    for (const StageFrame& frame : frames) bins = std::max({bins, frame.raster.row_bins(), frame.raster.column_bins()});
    return bins;
}

void draw_lines_below(Canvas& canvas, const std::vector<CaptionLine>& lines, const Box& box, Unit unit) {
    const int size = unit(sheet_text_size);
    int baseline = box.y + unit(24);
    for (const CaptionLine& line : lines) {
        const std::string value = shortened(line.value, size, box.width / 2);
        const int left = box.width - text_width(value, size) - unit(8);
        canvas.text(box.x, baseline, line.label, {size, style::muted, Align::left, left});
        canvas.text(box.right(), baseline, value, {size, style::ink, Align::right});
        canvas.box(Box{box.x, baseline + unit(7), box.width, 1}, style::hairline);
        baseline += unit(line_height);
    }
}

/// Each value below its label, as large as the box allows; the first value is larger if it has the lead.
void draw_stacked_lines(Canvas& canvas, const std::vector<CaptionLine>& lines, bool has_lead, const Box& box, Unit unit) {
    constexpr double largest = 1.7;
    const double high = box.height / (unit.pixels * std::max(stacked_height(static_cast<int>(lines.size())), 1));
    const double wide = box.width / (unit.pixels * caption_width);
    const Unit scaled{unit.pixels * std::clamp(std::min(high, wide), 1.0, largest)};
    int y = box.y;
    for (const CaptionLine& line : lines) {
        const bool leads = has_lead && &line == &lines.front();
        canvas.text(box.x, y + scaled(18), line.label,
                    {scaled(sheet_text_size), style::muted, Align::left, box.width, unit(16)});
        const int size =
            leads ? fitting_size(line.value, scaled(lead_size), scaled(value_size), box.width) : scaled(value_size);
        if (leads) y += size - scaled(value_size);
        const std::string value = shortened(line.value, size, box.width);
        canvas.text(box.x, y + scaled(47), value, {size, style::ink});
        const std::string before = line.before.empty() || line.before == "-" ? "" : "was " + line.before;
        const int left = text_width(value, size) + scaled(10);
        if (left + text_width(before, scaled(sheet_text_size)) <= box.width) {
            canvas.text(box.x + left, y + scaled(47), before, {scaled(sheet_text_size), style::muted});
        }
        y += scaled(caption_pitch);
    }
}

/// The title, and the parameters beside it and in the lines below.
void draw_heading(Canvas& canvas, const StageCaption& caption, const Box& box, Unit unit) {
    canvas.text(box.x, box.y + unit(26), caption.title, {unit(sheet_title_size), style::ink, Align::left, box.width});
    const auto most = static_cast<std::size_t>(1 + (box.height - unit(short_head)) / unit(line_pitch));
    int baseline = box.y + unit(26);
    for (const HeadingLine& line : heading_of(caption, box.width, most, unit)) {
        canvas.text(box.x + line.left, baseline, line.text, {unit(sheet_text_size), style::muted});
        baseline += unit(line_pitch);
    }
}

void draw_frame(Canvas& canvas, const StageFrame& frame, const DensityScale& scale, const SheetPlan& plan, int number,
                Unit unit) {
    const int x = unit(plan.x(number));
    const int y = unit(plan.y(number));
    const int width = unit(plan.cell_width);
    draw_heading(canvas, frame.caption, {x, y, width, unit(plan.head)}, unit);

    const Box pattern = pattern_box(frame.raster, x + unit(plan.numbers), y + unit(plan.head + plan.numbers), unit(plan.side));
    draw_pattern(canvas, {frame.raster, scale, pattern, unit});
    if (frame.raster.shows_entries()) draw_axes(canvas, frame.raster, pattern, unit(20));
    const Box strip{pattern.right() + unit(strip_gap), pattern.y, unit(strip_width), pattern.height};
    draw_strip(canvas, row_lengths(frame.raster, strip.height), strip);
    const int second = frame.raster.stored_total.empty() ? 0 : unit(strip_gap + stored_width);
    if (second > 0) {
        draw_strip(canvas, stored_row_lengths(frame.raster),
                   {strip.right() + unit(strip_gap), strip.y, unit(stored_width), strip.height});
    }
    std::vector<CaptionLine> lines = shown_lines(frame.caption, number == 0);
    if (lines.size() > plan.lines) lines.resize(plan.lines);
    const bool has_lead = number > 0 && !lines.empty() && lines.front().factor >= least_leading_factor;
    const int right = strip.right() + second;
    const int below = pattern.bottom() + unit(strip_gap);
    const int room = y + unit(plan.cell_height) - below;
    const int left = plan.captions_beside ? right + unit(2 * strip_gap) : x;
    if (lines.empty() && plan.lines > 0 && number > 0) {
        int baseline = (plan.captions_beside ? pattern.y : below) + unit(24);
        const int end = plan.captions_beside ? pattern.bottom() : y + unit(plan.cell_height);
        std::vector<std::string> said{"figures as before"};
        said.insert(said.end(), frame.caption.notes.begin(), frame.caption.notes.end());
        for (const std::string& words : said) {
            for (const std::string& line : wrapped(words, unit(sheet_text_size), x + width - left, 4)) {
                if (baseline > end) break;
                canvas.text(left, baseline, line, {unit(sheet_text_size), style::muted});
                baseline += unit(line_pitch);
            }
        }
    } else if (plan.captions_beside) {
        draw_stacked_lines(canvas, lines, has_lead, {left, pattern.y, x + width - left, pattern.height}, unit);
    } else if (unit(stacked_height(static_cast<int>(lines.size()))) <= room) {
        draw_stacked_lines(canvas, lines, has_lead, {x, below, width, room}, unit);
    } else {
        draw_lines_below(canvas, lines, {x, below, std::max(right - x, width * 3 / 4), 0}, unit);
    }
    if (number == 0) return;
    const int middle = number % plan.columns == 0 ? x - unit(sheet_margin / 2) : x - unit(column_gap / 2);
    canvas.text(middle, pattern.y + pattern.height / 2 + unit(10), "→", {unit(34), style::faint, Align::centre});
}

/// Explains the bars, and the lines that are left out.
std::string notes_of(const PatternRaster& raster, const Box& pattern) {
    std::string notes = raster.tiles > 0 ? "bars: row lengths, in tiles where there are tiles" : "bars: row lengths";
    if (!raster.shows_entries()) notes += ", the longest light, the mean dark";
    if (row_lengths(raster).logarithmic) notes += ", on a logarithmic axis";
    if (!raster.stored_total.empty()) notes += "; second bars: the rows of “" + raster.plane_names[1] + "” as they are stored";
    for (const std::string& note : pattern_notes(raster, pattern)) notes += "; " + note;
    return notes;
}

}  // namespace

int sheet_resolution(const SheetShape& shape, int width) { return resolution_for(unit_of(width)(plan_of(shape).side)); }

std::vector<int> sheet_resolutions(std::size_t frames, int width) {
    constexpr std::size_t most_lines = 5;
    std::set<int> resolutions;
    for (int heading = 1; heading <= static_cast<int>(most_heading_lines); ++heading) {
        for (const auto& [stored, captions] : {std::pair(false, false), {true, false}, {true, true}}) {
            for (std::size_t lines = 0; lines <= most_lines; ++lines) {
                const SheetShape shape{
                    .frames = frames, .lines = lines, .stored = stored, .stored_captions = captions, .heading_lines = heading};
                resolutions.insert(sheet_resolution(shape, width));
            }
        }
    }
    return {resolutions.begin(), resolutions.end()};
}

int pattern_side(const ContactSheet& sheet) { return unit_of(sheet.width)(plan_of(shape_of(sheet)).side); }

PictureSize size_of(const ContactSheet& sheet) {
    if (sheet.width > 0) return {sheet.width, height_of(sheet.width)};
    const double side = plan_of(shape_of(sheet)).side;
    const int bins = longest_side(sheet.frames);
    int width = nominal_width;
    if (bins > largest_shown_by_entry && (bins > side || std::floor(side / bins) * bins < 0.9 * side)) {
        const double pixels = std::ceil(side / bins) * bins;
        width = static_cast<int>(std::ceil(pixels / side * nominal_width / 16)) * 16;
    }
    return {width, height_of(width)};
}

void draw(Canvas& canvas, const ContactSheet& sheet) {
    if (sheet.frames.empty()) throw std::invalid_argument("a contact sheet needs at least one stage");
    const auto [width, height] = size_of(sheet);
    const SheetPlan plan = plan_of(shape_of(sheet));
    const Unit unit = unit_of(width);
    if (longest_side(sheet.frames) > std::max(unit(plan.side), 16)) {
        throw std::invalid_argument("a contact sheet needs at least one pixel per bin of its rasters");
    }
    const int text_block = unit(text_width_of_sheet);
    canvas.text(unit(sheet_margin), unit(60), sheet.head.title, {unit(46), style::ink, Align::left, text_block});
    canvas.text(unit(sheet_margin), unit(98), sheet.head.origin, {unit(24), style::muted, Align::left, text_block, unit(18)});
    for (std::size_t number = 0; number < sheet.frames.size(); ++number) {
        draw_frame(canvas, sheet.frames[number], sheet.scale, plan, static_cast<int>(number), unit);
    }
    // The legend of the stage with the most hues and shares, or with tiles, explains all others.
    const auto complexity = [](const StageFrame& frame) {
        const PatternRaster& raster = frame.raster;
        return std::tuple(raster.plane_names.size(), raster.shares, raster.tiles, raster.pieces.size());
    };
    const auto most = std::max_element(sheet.frames.begin(), sheet.frames.end(),
                                       [&](const auto& a, const auto& b) { return complexity(a) < complexity(b); });
    const int foot = nominal_height - reserved_height(sheet.storage != nullptr);
    draw_legend(canvas, most->raster, sheet.scale,
                {unit(sheet_margin), unit(foot - foot_height + 12), text_block, unit(sheet_text_size)});
    const std::string notes = notes_of(most->raster, pattern_box(most->raster, 0, 0, unit(plan.side)));
    canvas.text(unit(sheet_margin), unit(foot - 14), notes,
                {unit(sheet_text_size), style::muted, Align::left, text_block, unit(16)});
    if (sheet.storage == nullptr) return;
    storage_bar(canvas, *sheet.storage, {unit(sheet_margin), unit(foot), width - 2 * unit(sheet_margin), height - unit(foot)},
                unit);
}

}  // namespace workbench
