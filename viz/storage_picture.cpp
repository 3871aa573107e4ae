#include "viz/storage_picture.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "viz/memory_bar.hpp"
#include "viz/memory_order.hpp"
#include "viz/palette.hpp"
#include "viz/storage_canvas.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int map_margin = storage_margin;
using Sheet = StorageCanvas;
constexpr int cell_height = 27;
constexpr int note_height = 17;  // of a line of small numbers at cells
constexpr int bin_width = 3;
constexpr int band_height = 44;
constexpr int range_height = 22;
constexpr int lanes_per_warp = 32;

constexpr std::string_view title_of_places = "place in memory";
constexpr Colour idle_colour{243, 245, 247};

std::string percent(Offset part, Offset whole) {
    return whole == 0 ? "0 %" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void draw_memory_bar(Sheet& sheet) {
    sheet.paragraph(fmt::format("memory at scale: {} bytes", with_commas(static_cast<Offset>(sheet.map.bytes()))), 16,
                    style::ink, 10);
    sheet.y += 6;
    const Box bar{map_margin, sheet.y, sheet.content_width(), 40};
    for (const BarPiece& piece : memory_bar(sheet.map, bar, std::trunc)) {
        for (const auto& [box, filling] : boxes_of(piece, 1)) sheet.boxes({box}, filling);
        const std::string name = piece.part.share.empty() ? piece.array.name : piece.part.share + " " + piece.array.name;
        if (text_width(name, 13) > piece.box.width - 8) continue;  // the array below has its whole name
        sheet.text(piece.box.x + 3, bar.bottom() + 15, name, {13, style::muted});
    }
    sheet.frame(bar, style::ink);
    sheet.y = bar.bottom() + 22;
}

void draw_legend(Sheet& sheet) {
    const bool is_bare = sheet.detail.crop > 0;
    sheet.y += 18;
    int x = map_margin;
    const auto entry = [&](const Filling& filling, const std::string& text) {
        if (x > map_margin && x + 34 + text_width(text, 14) > map_margin + sheet.content_width()) {
            x = map_margin;
            sheet.y += 22;
        }
        const Box swatch{x, sheet.y - 12, 26, 14};
        sheet.boxes({swatch}, filling);
        sheet.frame(swatch, style::muted);
        sheet.text(x + 34, sheet.y, text, {14, style::ink});
        x += 34 + text_width(text, 14) + 28;
    };
    entry(filling_of(ArrayRole::value), "values");
    entry(padding_filling, is_bare ? "padding" : "padding: a place without a nonzero");
    entry(filling_of(ArrayRole::column), "columns");
    if (sheet.detail.arrays && (sheet.map.by_cell || sheet.detail.memory_bar))
        entry(filling_of(ArrayRole::structure), is_bare ? "structure" : "structure: offsets, rows, lengths");
    sheet.y += 8;
}

void draw_head(Sheet& sheet, const StoragePart& part) {
    if (sheet.detail.crop > 0) return sheet.paragraph(part.share, 14, style::ink, 10);
    const Offset slots = part.nonzeros() + part.padding();
    sheet.paragraph(
        fmt::format("{}{}: {} in {}, {} of padding; {} bytes", part.share.empty() ? "" : "share " + part.share + " in ",
                    part.layout, counted_with_commas(part.nonzeros() + part.mirrors, "nonzero"),
                    counted_with_commas(slots, "place"), percent(part.padding(), slots),
                    with_commas(static_cast<Offset>(part.bytes()))),
        19, style::ink, 18);
}

void draw_name(const Sheet& sheet, const StorageArray& array, int baseline) {
    const std::string type(name_of(array.type));
    const int width = sheet.detail.name_width - 22 - text_width(type, 12);
    const int size = fitting_size(array.name, 14, 11, width);
    const std::string text = shortened(array.name, size, width);
    sheet.text(map_margin, baseline, text, {size, style::ink});
    sheet.text(map_margin + text_width(text, size) + 6, baseline, type, {12, style::muted});
}

// ---- Cells.

/// Arrays that are drawn below each other, cell by cell.
struct CellTrack {
    const StoragePart& part;
    const std::vector<int>& numbers;  // of the arrays in the part
    const StorageArray& leader;       // determines the order of the cells

    [[nodiscard]] bool has_slots() const { return leader.role == ArrayRole::value; }
};

/// Consecutive places of a track that fit into one line, with the columns that they are drawn in.
struct CellLine {
    std::span<const DrawnPlace> places;
    std::vector<Box> at;  // y and height are unused
};

int gap_before(const DrawnPlace& place) { return place.begins == Begins::nothing ? 0 : place.begins == Begins::line ? 7 : 19; }

std::string text_of(const StorageArray& array, const DrawnPlace& place) {
    const std::string& text = array.cells[place.cell].text;
    if (place.cells == 1) return text;
    return array.role == ArrayRole::structure ? fmt::format("{} × {}", place.cells, text) : fmt::format("{} ×", place.cells);
}

int width_of(const StorageDetail& detail, const CellTrack& track, const DrawnPlace& place) {
    int width = place.cells > 1 ? 2 * detail.least_cell_width : detail.least_cell_width;
    for (const int number : track.numbers)
        width = std::max(width, text_width(text_of(track.part.arrays[number], place), 14) + 10);
    return width;
}

/// A line of small numbers, one for each place.
template <typename TextOf>
void draw_notes(Sheet& sheet, const CellLine& line, std::string_view title, const TextOf& text_of_place) {
    sheet.text(map_margin, sheet.y + 12, title, {12, style::muted});
    for (std::size_t i = 0; i < line.places.size(); ++i) {
        const Box& at = line.at[i];
        sheet.text(at.x + at.width / 2, sheet.y + 12, text_of_place(line.places[i]), {11, style::muted, Align::centre});
    }
    sheet.y += note_height;
}

void draw_array_cells(Sheet& sheet, const StorageArray& array, const CellLine& line) {
    draw_name(sheet, array, sheet.y + 19);
    std::vector<Box> filled;
    std::vector<Box> padding;
    std::vector<Box> behind_texts;
    std::vector<Box> gaps;
    for (std::size_t i = 0; i < line.places.size(); ++i) {
        const Box box{line.at[i].x, sheet.y, line.at[i].width, cell_height};
        const bool is_padding = array.cells[line.places[i].cell].padding;
        (is_padding ? padding : filled).push_back(box);
        gaps.push_back({box.right() - 1, sheet.y, 1, cell_height});
        if (!is_padding) continue;
        const int width = text_width(text_of(array, line.places[i]), 14) + 6;
        behind_texts.push_back({box.x + (box.width - width) / 2, sheet.y + 6, width, cell_height - 12});
    }
    const int left = line.at.front().x;
    gaps.push_back({left, sheet.y + cell_height - 1, line.at.back().right() - left, 1});
    sheet.boxes(filled, filling_of(array.role));
    sheet.boxes(padding, padding_filling);
    sheet.boxes(behind_texts, {white});
    sheet.boxes(gaps, {white});
    for (std::size_t i = 0; i < line.places.size(); ++i) {
        const bool is_padding = array.cells[line.places[i].cell].padding;
        const Colour ink = is_padding ? padding_colour : text_on(filling_of(array.role).colour);
        sheet.text(line.at[i].x + line.at[i].width / 2, sheet.y + 19, text_of(array, line.places[i]), {14, ink, Align::centre});
    }
    sheet.y += cell_height;
}

void draw_slot_notes(Sheet& sheet, const StorageArray& slots, const CellLine& line) {
    const auto note = [&](std::string_view title, auto member, bool of_nonzeros) {
        draw_notes(sheet, line, title, [&](const DrawnPlace& place) {
            const StorageCell& cell = slots.cells[place.cell];
            const bool known = cell.*member >= 0 && place.cells == 1 && (!of_nonzeros || cell.nonzero >= 0);
            return known ? std::to_string(cell.*member) : std::string();
        });
    };
    sheet.y += 2;
    note("of row", &StorageCell::row, true);
    if (!sheet.detail.lane_notes) return;
    note("read by lane", &StorageCell::lane, false);
    note("in step", &StorageCell::step, false);
}

void draw_cell_line(Sheet& sheet, const CellTrack& track, const CellLine& line) {
    sheet.y += 10;
    if (track.part.arrays[track.numbers.front()].role != ArrayRole::structure) {
        draw_notes(sheet, line, title_of_places, [](const DrawnPlace& place) { return std::to_string(place.cell); });
    }
    const int top = sheet.y;
    for (const int number : track.numbers) draw_array_cells(sheet, track.part.arrays[number], line);
    for (std::size_t i = 1; i < line.places.size(); ++i) {
        const DrawnPlace& place = line.places[i];
        if (place.begins == Begins::nothing) continue;
        const int width = place.begins == Begins::group ? 5 : 1;
        const int x = line.at[i].x - gap_before(place) / 2 - width / 2 - 1;
        sheet.boxes({{x, top - 4, width, sheet.y - top + 8}}, {style::ink});
    }
    if (track.has_slots()) draw_slot_notes(sheet, track.leader, line);
    sheet.y += 4;
}

void draw_cells(Sheet& sheet, const StoragePart& part, const std::vector<int>& numbers) {
    const StorageArray& first = part.arrays[numbers.front()];
    const CellTrack track{part, numbers, first.like >= 0 ? part.arrays[first.like] : first};
    const std::vector<DrawnPlace> places =
        track.leader.role == ArrayRole::structure ? plain_places_of(track.leader) : memory_order_of(track.leader).places;
    if (places.empty()) {
        sheet.y += 8;
        draw_name(sheet, track.leader, sheet.y + 18);
        sheet.text(map_margin + sheet.detail.name_width, sheet.y + 18, "none", {14, style::muted});
        sheet.y += cell_height;
        return;
    }
    int lines = 0;
    for (std::size_t begin = 0; begin < places.size(); ++lines) {
        if (lines == sheet.detail.most_lines) {
            const std::string more = fmt::format("… and {} more", with_commas(static_cast<Offset>(places.size() - begin)));
            sheet.text(map_margin + sheet.detail.name_width, sheet.y + 16, more, {14, style::muted});
            sheet.y += 22;
            return;
        }
        CellLine line;
        int x = map_margin + sheet.detail.name_width;
        std::size_t end = begin;
        for (; end < places.size(); ++end) {
            const int gap = end == begin ? 0 : gap_before(places[end]);
            const int width = width_of(sheet.detail, track, places[end]);
            if (end > begin && x + gap + width > map_margin + sheet.content_width()) break;
            line.at.push_back({x + gap, 0, width, 0});
            x += gap + width;
        }
        line.places = std::span(places).subspan(begin, end - begin);
        draw_cell_line(sheet, track, line);
        begin = end;
    }
}

// ---- Bins.

/// A line of bins: a band that is filled in proportion to the nonzeros, and below it the range of their columns.
void draw_bin_line(Sheet& sheet, const StorageArray& array, std::span<const StorageBin> bins, std::span<const Offset> places) {
    const Box band{map_margin, sheet.y, static_cast<int>(bins.size()) * bin_width, band_height};
    const Box range{map_margin, band.bottom() + 3, band.width, range_height};
    const auto height_of_column = [&](Index column) {
        return static_cast<int>(static_cast<std::int64_t>(range_height - 1) * column / std::max(sheet.map.columns, 1));
    };
    std::vector<Box> filled;
    std::vector<Box> columns;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const int left = map_margin + static_cast<int>(i) * bin_width;
        const Offset nonzeros = places[i] - bins[i].padding;
        const auto height = static_cast<int>((2 * band_height * nonzeros + places[i]) / (2 * places[i]));
        if (height > 0) filled.push_back({left, band.bottom() - height, bin_width, height});
        if (bins[i].first_column < 0) continue;
        const int top = height_of_column(bins[i].first_column);
        columns.push_back({left, range.y + top, bin_width, height_of_column(bins[i].last_column) - top + 1});
    }
    sheet.boxes({band}, padding_filling);
    sheet.boxes(filled, filling_of(array.role));
    sheet.frame(band, style::muted);
    sheet.boxes({range}, {Colour{246, 247, 249}});
    sheet.boxes(columns, filling_of(ArrayRole::column));
    sheet.y = range.bottom() + 12;
}

void draw_bins(Sheet& sheet, const StoragePart& part, int number) {
    const StorageArray& array = part.arrays[number];
    std::string beside;
    for (const StorageArray& other : part.arrays) {
        if (other.like == number) beside += fmt::format(", parallel to {} ({})", other.name, name_of(other.type));
    }
    sheet.paragraph(fmt::format("{} ({}){}: {}, {} of padding", array.name, name_of(array.type), beside,
                                counted_with_commas(array.length, "place"), percent(array.padding, array.length)),
                    16, style::ink, 14);
    const std::size_t in_line = sheet.content_width() / bin_width;
    const auto [bins, width] = joined_bins(array, in_line * sheet.detail.most_lines);
    if (sheet.detail.crop == 0) {
        sheet.paragraph(
            fmt::format(
                "each bar stands for {} places and is filled in proportion to its nonzeros; below it is the range of their "
                "columns, out of {}",
                with_commas(width), with_commas(sheet.map.columns)),
            13, style::muted, 2);
    }
    sheet.y += 6;
    std::vector<Offset> places(bins.size(), width);
    if (!bins.empty()) places.back() = array.length - static_cast<Offset>(bins.size() - 1) * width;
    for (std::size_t begin = 0; begin < bins.size(); begin += in_line) {
        const std::size_t count = std::min(in_line, bins.size() - begin);
        draw_bin_line(sheet, array, std::span(bins).subspan(begin, count), std::span(places).subspan(begin, count));
    }
}

/// Beside bins, structures are listed in one paragraph.
void draw_structures(Sheet& sheet, const StoragePart& part) {
    std::string text;
    for (const StorageArray& array : part.arrays) {
        if (array.role != ArrayRole::structure) continue;
        text += fmt::format("{}{} ({}, {})", text.empty() ? "structure: " : "; ", array.name, name_of(array.type),
                            with_commas(array.length));
    }
    if (!text.empty()) sheet.paragraph(text, 14, style::muted, 10);
}

// ---- Warps.

std::int64_t shown_steps(const Sheet& sheet, const WarpReads& warp) {
    return std::min(warp.listed_steps(), sheet.detail.most_steps);
}

struct ReadBoxes {
    std::vector<Box> nonzeros;
    std::vector<Box> padding;
    std::vector<Box> idle;

    void add(const LaneRead& read, const Box& box) {
        (read.array < 0 ? idle : read.padding ? padding : nonzeros).push_back(box);
    }
};

/// Value and column of each read, in a grid with a column for each lane and a line for each step.
void draw_warp_cells(Sheet& sheet, const StoragePart& part, const WarpReads& warp) {
    constexpr int height = 36;
    constexpr TextStyle head{12, style::muted, Align::centre};
    constexpr TextStyle count{14, style::ink, Align::centre};
    const int left = map_margin + 96;
    const int width = (sheet.content_width() - 96 - 104) / lanes_per_warp;
    const int values_at = left + lanes_per_warp * width + 30;
    const int x_at = values_at + 50;
    sheet.text(map_margin, sheet.y + 14, fmt::format("warp {}", warp.warp), {15, style::ink});
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        sheet.text(left + lane * width + width / 2, sheet.y + 14, std::to_string(lane), head);
    }
    sheet.text(values_at, sheet.y + 14, "values", head);
    sheet.text(x_at, sheet.y + 14, "x", head);
    sheet.y += 20;
    for (std::int64_t step = 0; step < shown_steps(sheet, warp); ++step, sheet.y += height) {
        sheet.text(map_margin, sheet.y + 22, fmt::format("step {}", step), {14, style::muted});
        ReadBoxes boxes;
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            boxes.add(warp.at(step, lane), {left + lane * width, sheet.y, width - 2, height - 2});
        }
        sheet.boxes(boxes.nonzeros, filling_of(ArrayRole::value));
        sheet.boxes(boxes.padding, padding_filling);
        sheet.boxes(boxes.idle, {idle_colour});
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            const LaneRead& read = warp.at(step, lane);
            if (read.array < 0 || read.padding) continue;
            const auto within = [&](int baseline, const std::string& text, int size) {
                const int fitting = fitting_size(text, size, 9, width - 4);
                sheet.text(left + lane * width + width / 2 - 1, baseline, shortened(text, fitting, width - 2),
                           {fitting, text_on(value_colour.colour), Align::centre});
            };
            within(sheet.y + 16, part.arrays[read.array].cells[read.index].text, 14);
            if (read.column >= 0) within(sheet.y + 30, fmt::format("x{}", read.column), 11);
        }
        const ReadSectors sectors = sectors_of(warp, step, value_bytes(sheet.map.precision));
        sheet.text(values_at, sheet.y + 22, std::to_string(sectors.values), count);
        sheet.text(x_at, sheet.y + 22, std::to_string(sectors.x), count);
    }
    sheet.y += 8;
}

/// The reads of a warp as a grid of small squares, with bars for the sectors of each step. Returns the bottom.
int draw_warp_grid(const Sheet& sheet, const WarpReads& warp, int left, int width) {
    constexpr int pitch = 8;
    const std::int64_t steps = shown_steps(sheet, warp);
    sheet.text(left, sheet.y + 14,
               fmt::format("warp {}, steps: {}{}", with_commas(warp.warp), with_commas(warp.steps),
                           steps < warp.steps ? fmt::format(", {} shown", steps) : ""),
               {14, style::ink});
    const Box grid{left, sheet.y + 22, lanes_per_warp * pitch + 1, static_cast<int>(steps) * pitch + 1};
    ReadBoxes reads;
    std::vector<Box> value_bars;
    std::vector<Box> x_bars;
    const int longest_bar = width - grid.width - 10;
    for (std::int64_t step = 0; step < steps; ++step) {
        const int y = grid.y + 1 + static_cast<int>(step) * pitch;
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            reads.add(warp.at(step, lane), {left + 1 + lane * pitch, y, pitch - 1, pitch - 1});
        }
        const ReadSectors sectors = sectors_of(warp, step, value_bytes(sheet.map.precision));
        // At most one sector per lane.
        const auto bar = [&](std::size_t count) { return static_cast<int>(count) * longest_bar / lanes_per_warp; };
        value_bars.push_back({grid.right() + 8, y, bar(sectors.values), 3});
        x_bars.push_back({grid.right() + 8, y + 3, bar(sectors.x), 4});
    }
    sheet.boxes({grid}, {idle_colour});
    sheet.boxes(reads.nonzeros, filling_of(ArrayRole::value));
    sheet.boxes(reads.padding, padding_filling);
    sheet.boxes(value_bars, filling_of(ArrayRole::value));
    sheet.boxes(x_bars, filling_of(ArrayRole::column));
    return grid.bottom();
}

void draw_warps(Sheet& sheet, const StoragePart& part) {
    const std::size_t shown = std::min(part.shown_warps.size(), sheet.detail.most_warps);
    if (shown == 0) return;
    sheet.paragraph(
        fmt::format("which thread reads what in kernel {}: one column per lane, one line per step; pale lanes are idle",
                    part.kernel),
        17, style::ink, 16);
    sheet.paragraph(
        fmt::format("warps: {}; {} of their lane steps are idle. Right: the number of sectors of {} bytes of the values and "
                    "of x that each step reads",
                    with_commas(part.warps), percent(part.lane_steps - part.reads, part.lane_steps), sector_bytes),
        14, style::muted, 2);
    sheet.y += 8;
    if (sheet.map.by_cell) {
        for (std::size_t i = 0; i < shown; ++i) draw_warp_cells(sheet, part, part.shown_warps[i]);
        return;
    }
    constexpr int gap = 26;
    const int beside = static_cast<int>(std::min(most_shown_warps, sheet.detail.most_warps));
    const int width = (sheet.content_width() + gap) / beside - gap;
    int bottom = sheet.y;
    for (std::size_t i = 0; i < shown; ++i) {
        const int left = map_margin + static_cast<int>(i) * (width + gap);
        bottom = std::max(bottom, draw_warp_grid(sheet, part.shown_warps[i], left, width));
    }
    sheet.y = bottom + 10;
}

void draw_arrays(Sheet& sheet, const StoragePart& part) {
    for (const std::vector<int>& numbers : tracks_of(part)) {
        if (sheet.map.by_cell) {
            draw_cells(sheet, part, numbers);
            continue;
        }
        for (const int number : numbers) {
            if (!part.arrays[number].bins.empty()) draw_bins(sheet, part, number);
        }
    }
    if (!sheet.map.by_cell) draw_structures(sheet, part);
}

/// Returns the height.
int draw_all(Canvas* canvas, const StoragePicture& picture) {
    Sheet sheet{canvas, picture.map, picture.detail, picture.scale, picture.detail.crop > 0 ? 0 : 16};
    if (!picture.title.empty()) sheet.paragraph(picture.title, 26, style::ink);
    if (!picture.subtitle.empty()) sheet.paragraph(picture.subtitle, 16, style::muted);
    if (picture.detail.memory_bar) draw_memory_bar(sheet);
    draw_legend(sheet);
    for (const StoragePart& part : picture.map.parts) {
        if (!picture.detail.arrays && part.shown_warps.empty()) continue;
        draw_head(sheet, part);
        if (picture.detail.arrays) draw_arrays(sheet, part);
        draw_warps(sheet, part);
    }
    return sheet.y + map_margin - picture.detail.crop;
}

}  // namespace

PictureSize size_of(const StoragePicture& picture) {
    const double scale = picture.detail.crop > 0 ? picture.scale : 1;
    const auto scaled = [scale](int length) { return static_cast<int>(std::lround(length * scale)); };
    return {scaled(picture.detail.width - 2 * picture.detail.crop), scaled(draw_all(nullptr, picture))};
}

StoragePicture paper_storage(const StorageMap& map, int pixels) {
    constexpr int margin = 3;
    const auto width = std::lround(pixels / 1.1);  // the numbers in the cells are then 7.5 points high, those below them 6
    StorageDetail detail{.least_cell_width = 22, .memory_bar = false, .lane_notes = false, .most_warps = 0};
    detail.crop = map_margin - margin;
    detail.width = static_cast<int>(width) + 2 * detail.crop;
    const int content = static_cast<int>(width) - 2 * margin;
    detail.name_width = map.by_cell ? text_width(title_of_places, 12) + 16 : 0;
    if (!map.by_cell) detail.most_lines = 1;
    for (const StoragePart& part : map.parts) {
        for (const StorageArray& array : part.arrays) {
            const int name = text_width(array.name, 14) + 6 + text_width(name_of(array.type), 12) + 16;
            detail.name_width = std::max(detail.name_width, std::min(name, content * 9 / 20));
        }
    }
    return {"", "", map, detail, static_cast<double>(pixels) / static_cast<double>(width)};
}

void draw(Canvas& canvas, const StoragePicture& picture) { (void)draw_all(&canvas, picture); }

}  // namespace workbench
