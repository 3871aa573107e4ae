#include "viz/storage_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "viz/memory_order.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int margin = 32;
constexpr int name_width = 210;  // beside cells
constexpr int cell_height = 27;
constexpr int note_height = 17;  // of a line of small numbers beside cells
constexpr int bin_width = 3;
constexpr int band_height = 44;
constexpr int range_height = 22;
constexpr int lanes_of_warp = 32;

constexpr Colour value_colour{38, 84, 140};
constexpr Colour column_colour{140, 204, 150};
constexpr Colour structure_colour{222, 214, 236};
constexpr Colour padding_colour{196, 88, 28};
constexpr Colour waiting_colour{243, 245, 247};
constexpr Filling padding_filling{white, padding_colour};

std::string percent(Offset part, Offset whole) {
    return whole == 0 ? "0 %" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string full_name(const StoragePart& part, const StorageArray& array) {
    return part.share.empty() ? array.name : part.share + " " + array.name;
}

/// Draws from top to bottom, and knows how far it has come. Without a canvas it only measures.
class Sheet {
public:
    Sheet(Canvas* canvas, const StorageRoom& room) : canvas_(canvas), room_(room), content_(room.width - 2 * margin) {}

    [[nodiscard]] int bottom() const { return y_; }

    void skip(int height) { y_ += height; }

    /// A line of text below what is there, or two.
    void line(std::string_view text, int size, Colour colour, int above = 6) {
        y_ += above;
        for (const std::string& one : wrapped(text, size, content_, 2)) {
            y_ += size;
            write(margin, y_, one, {size, colour});
            y_ += size / 3;
        }
    }

    /// All arrays one behind the other, as long as they take bytes; what is padding is lined.
    void memory_bar(const StorageMap& map) {
        std::size_t total = 0;
        for (const StoragePart& part : map.parts) total += part.bytes();
        line(fmt::format("memory at scale: {} bytes", grouped(static_cast<Offset>(total))), 16, style::ink, 10);
        y_ += 6;
        constexpr int height = 40;
        std::size_t before = 0;
        for (const StoragePart& part : map.parts) {
            for (const StorageArray& array : part.arrays) {
                const int from = at_scale(before, total);
                before += array.bytes();
                const int end = at_scale(before, total);
                const auto padding = array.length == 0 ? 0 : static_cast<int>((end - from) * array.padding / array.length);
                boxes({{from, y_, end - from - padding, height}}, filling_of(array.role));
                boxes({{end - padding, y_, padding, height}}, padding_filling);
                boxes({{from, y_, 1, height}}, {style::ink});
                const std::string name = shortened(full_name(part, array), 13, end - from - 8);
                write(from + 3, y_ + height + 15, name, {13, style::muted});
            }
        }
        frame({margin, y_, content_, height}, style::ink);
        y_ += height + 22;
    }

    void legend(bool structures) {
        y_ += 18;
        int x = margin;
        const auto entry = [&](const Filling& filling, const std::string& text) {
            if (x > margin && x + 34 + text_width(text, 14) > margin + content_) {
                x = margin;
                y_ += 22;
            }
            boxes({{x, y_ - 12, 26, 14}}, filling);
            frame({x, y_ - 12, 26, 14}, style::muted);
            write(x + 34, y_, text, {14, style::ink});
            x += 34 + text_width(text, 14) + 28;
        };
        entry(filling_of(ArrayRole::value), "values");
        entry(padding_filling, "padding: a place without a nonzero");
        entry(filling_of(ArrayRole::column), "columns");
        if (structures) entry(filling_of(ArrayRole::structure), "structure: offsets, rows, lengths");
        y_ += 8;
    }

    void head(const StoragePart& part) {
        const Offset slots = part.nonzeros() + part.padding();
        line(fmt::format("{}{}: {} nonzeros in {} places, {} of padding; {} bytes",
                         part.share.empty() ? "" : "share " + part.share + " in ", part.layout,
                         grouped(part.nonzeros() + part.mirrors), grouped(slots), percent(part.padding(), slots),
                         grouped(static_cast<Offset>(part.bytes()))),
             19, style::ink, 18);
    }

    /// An array and those beside it, cell by cell.
    void cells(const StoragePart& part, const std::vector<int>& numbers) {
        const StorageArray* leader = &part.arrays[numbers.front()];
        if (leader->like >= 0) leader = &part.arrays[leader->like];
        const bool has_slots = leader->role == ArrayRole::value;
        const MemoryOrder order = leader->role == ArrayRole::structure ? MemoryOrder{Along::rows, plain_places_of(*leader)}
                                                                       : memory_order_of(*leader);
        if (order.places.empty()) {
            y_ += 8;
            name(*leader, y_ + 18);
            write(margin + name_width, y_ + 18, "none", {14, style::muted});
            y_ += cell_height;
            return;
        }
        int lines = 0;
        for (std::size_t begin = 0; begin < order.places.size(); ++lines) {
            if (lines == room_.most_lines) {
                const auto left = static_cast<Offset>(order.places.size() - begin);
                write(margin + name_width, y_ + 16, fmt::format("… and {} more", grouped(left)), {14, style::muted});
                y_ += 22;
                return;
            }
            int x = margin + name_width;
            std::size_t end = begin;
            std::vector<Box> places;  // the heights are those of a cell
            while (end < order.places.size()) {
                const int gap = end == begin ? 0 : gap_before(order.places[end]);
                const int wide = width_of(part, numbers, order.places[end]);
                if (end > begin && x + gap + wide > margin + content_) break;
                places.push_back({x + gap, 0, wide, cell_height});
                x += gap + wide;
                ++end;
            }
            cell_lines(part, numbers, std::span(order.places).subspan(begin, end - begin), places,
                       has_slots ? leader : nullptr);
            begin = end;
        }
    }

    /// An array of values with those beside it, or of columns that stand for several values.
    void bins(const StoragePart& part, int number) {
        const StorageArray& array = part.arrays[number];
        std::string beside;
        for (const StorageArray& other : part.arrays) {
            if (other.like == number) beside += fmt::format(", with {} ({}) beside it", other.name, name_of(other.type));
        }
        line(fmt::format("{} ({}){}: {} places, {} of padding", array.name, name_of(array.type), beside, grouped(array.length),
                         percent(array.padding, array.length)),
             16, style::ink, 14);
        const std::size_t in_line = content_ / bin_width;
        const auto [bins, width] = joined_bins(array, in_line * room_.most_lines);
        line(fmt::format("{} places each {} pixels to the right, filled as far as they hold nonzeros; below, from the first to "
                         "the last column of them, of {}",
                         grouped(width), bin_width, grouped(columns_)),
             13, style::muted, 2);
        y_ += 6;
        for (std::size_t begin = 0; begin < bins.size(); begin += in_line) {
            const std::size_t end = std::min(begin + in_line, bins.size());
            const Box band{margin, y_, static_cast<int>(end - begin) * bin_width, band_height};
            const Box range{margin, y_ + band_height + 3, band.width, range_height};
            std::vector<Box> filled;
            std::vector<Box> reached;
            for (std::size_t i = begin; i < end; ++i) {
                const StorageBin& bin = bins[i];
                const Offset places = std::min(width, array.length - static_cast<Offset>(i) * width);
                const int left = margin + static_cast<int>(i - begin) * bin_width;
                const auto high = static_cast<int>((2 * band_height * (places - bin.padding) + places) / (2 * places));
                if (high > 0) filled.push_back({left, y_ + band_height - high, bin_width, high});
                if (bin.first_column < 0) continue;
                const auto height_of = [&](Index column) {
                    return static_cast<int>(static_cast<std::int64_t>(range_height - 1) * column / std::max(columns_, 1));
                };
                const int top = height_of(bin.first_column);
                reached.push_back({left, range.y + top, bin_width, height_of(bin.last_column) - top + 1});
            }
            boxes({band}, padding_filling);
            boxes(filled, filling_of(array.role));
            frame(band, style::muted);
            boxes({range}, {Colour{246, 247, 249}});
            boxes(reached, {column_colour});
            y_ = range.bottom() + 12;
        }
    }

    /// Structures have no places for nonzeros: their lengths say it all.
    void structures(const StoragePart& part) {
        std::string text;
        for (const StorageArray& array : part.arrays) {
            if (array.role != ArrayRole::structure) continue;
            text += fmt::format("{}{} ({}, {})", text.empty() ? "structure: " : "; ", array.name, name_of(array.type),
                                grouped(array.length));
        }
        if (!text.empty()) line(text, 14, style::muted, 10);
    }

    void warps(const StorageMap& map, const StoragePart& part) {
        if (part.shown_warps.empty() || room_.most_warps == 0) return;
        line(fmt::format("who reads what, in kernel {}: a column a lane, a line a step; a lane that is left pale waits",
                         part.kernel),
             17, style::ink, 16);
        line(fmt::format("warps: {}; of their lanes' steps {} wait. Right: how many sectors of {} bytes the step reads of the "
                         "values and of x",
                         grouped(part.warps), percent(part.lane_steps - part.reads, part.lane_steps), sector_bytes),
             14, style::muted, 2);
        y_ += 8;
        if (map.by_cell) {
            for (std::size_t i = 0; i < shown_warps(part); ++i) warp_by_cell(map, part, part.shown_warps[i]);
        } else {
            warps_side_by_side(map, part);
        }
    }

    void set_columns(Index columns) { columns_ = columns; }

private:
    [[nodiscard]] int at_scale(std::size_t bytes, std::size_t total) const {
        return margin + (total == 0 ? 0
                                    : static_cast<int>(static_cast<double>(content_) * static_cast<double>(bytes) /
                                                       static_cast<double>(total)));
    }

    void write(int x, int y, std::string_view text, const TextStyle& style) {
        if (canvas_ != nullptr && !text.empty()) canvas_->text(x, y, text, style);
    }
    void boxes(const std::vector<Box>& boxes, const Filling& filling) {
        if (canvas_ != nullptr && !boxes.empty()) canvas_->boxes(boxes, filling);
    }
    void frames(const std::vector<Box>& around, Colour colour) {
        std::vector<Box> sides;
        for (const Box& box : around) {
            sides.insert(sides.end(), {{box.x, box.y, box.width, 1},
                                       {box.x, box.bottom() - 1, box.width, 1},
                                       {box.x, box.y, 1, box.height},
                                       {box.right() - 1, box.y, 1, box.height}});
        }
        boxes(sides, {colour});
    }
    void frame(const Box& box, Colour colour) { frames({box}, colour); }

    void name(const StorageArray& array, int baseline) {
        const std::string type(name_of(array.type));
        const std::string text = shortened(array.name, 14, name_width - 22 - text_width(type, 12));
        write(margin, baseline, text, {14, style::ink});
        write(margin + text_width(text, 14) + 6, baseline, type, {12, style::muted});
    }

    [[nodiscard]] std::size_t shown_warps(const StoragePart& part) const {
        return std::min(part.shown_warps.size(), room_.most_warps);
    }
    [[nodiscard]] std::int64_t shown_steps(const WarpReads& warp) const {
        return std::min(warp.listed_steps(), room_.most_steps);
    }

    [[nodiscard]] static int gap_before(const DrawnPlace& place) {
        return place.begins == Begins::nothing ? 0 : place.begins == Begins::line ? 7 : 19;
    }

    [[nodiscard]] static std::string text_of(const StorageArray& array, const DrawnPlace& place) {
        const std::string& text = array.cells[place.cell].text;
        if (place.cells == 1) return text;
        return array.role == ArrayRole::structure ? fmt::format("{} × {}", place.cells, text)
                                                  : fmt::format("{} ×", place.cells);
    }

    [[nodiscard]] int width_of(const StoragePart& part, const std::vector<int>& numbers, const DrawnPlace& place) const {
        int wide = place.cells > 1 ? 2 * room_.cell_width : room_.cell_width;
        for (const int number : numbers) wide = std::max(wide, text_width(text_of(part.arrays[number], place), 14) + 10);
        return wide;
    }

    void cell_lines(const StoragePart& part, const std::vector<int>& numbers, std::span<const DrawnPlace> places,
                    std::vector<Box>& at, const StorageArray* slots) {
        y_ += 10;
        const auto note = [&](std::string_view what, const auto& text) {
            write(margin, y_ + 12, what, {12, style::muted});
            for (std::size_t i = 0; i < places.size(); ++i) {
                write(at[i].x + at[i].width / 2, y_ + 12, text(places[i]), {11, style::muted, Align::centre});
            }
            y_ += note_height;
        };
        if (part.arrays[numbers.front()].role != ArrayRole::structure) {
            note("place in memory", [](const DrawnPlace& place) { return std::to_string(place.cell); });
        }
        const int top = y_;
        for (const int number : numbers) {
            const StorageArray& array = part.arrays[number];
            name(array, y_ + 19);
            std::vector<Box> filled;
            std::vector<Box> padding;
            std::vector<Box> behind_texts;
            std::vector<Box> gaps;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const Box box{at[i].x, y_, at[i].width, cell_height};
                const bool is_padding = array.cells[places[i].cell].padding;
                (is_padding ? padding : filled).push_back(box);
                gaps.push_back({box.right() - 1, y_, 1, cell_height});
                if (!is_padding) continue;
                const int wide = text_width(text_of(array, places[i]), 14) + 6;
                behind_texts.push_back({box.x + (box.width - wide) / 2, y_ + 6, wide, cell_height - 12});
            }
            gaps.push_back({at.front().x, y_ + cell_height - 1, at.back().right() - at.front().x, 1});
            boxes(filled, filling_of(array.role));
            boxes(padding, padding_filling);
            boxes(behind_texts, {white});
            boxes(gaps, {white});
            for (std::size_t i = 0; i < places.size(); ++i) {
                const bool is_padding = array.cells[places[i].cell].padding;
                const Colour ink = is_padding ? padding_colour : array.role == ArrayRole::value ? white : style::ink;
                write(at[i].x + at[i].width / 2, y_ + 19, text_of(array, places[i]), {14, ink, Align::centre});
            }
            y_ += cell_height;
        }
        for (std::size_t i = 1; i < places.size(); ++i) {
            if (places[i].begins == Begins::nothing) continue;
            const int wide = places[i].begins == Begins::group ? 5 : 1;
            boxes({{at[i].x - gap_before(places[i]) / 2 - wide / 2 - 1, top - 4, wide, y_ - top + 8}}, {style::ink});
        }
        if (slots != nullptr) {
            const auto of_cell = [&](const DrawnPlace& place, auto member) {
                const auto number = slots->cells[place.cell].*member;
                return number < 0 || place.cells > 1 ? std::string() : std::to_string(number);
            };
            y_ += 2;
            note("of row", [&](const DrawnPlace& place) {
                return slots->cells[place.cell].nonzero < 0 ? std::string() : of_cell(place, &StorageCell::row);
            });
            if (room_.lane_notes) {
                note("read by lane", [&](const DrawnPlace& place) { return of_cell(place, &StorageCell::lane); });
                note("in step", [&](const DrawnPlace& place) { return of_cell(place, &StorageCell::step); });
            }
        }
        y_ += 4;
    }

    void warp_by_cell(const StorageMap& map, const StoragePart& part, const WarpReads& warp) {
        constexpr int height = 36;
        const int left = margin + 96;
        const int wide = (content_ - 96 - 104) / lanes_of_warp;
        write(margin, y_ + 14, fmt::format("warp {}", warp.warp), {15, style::ink});
        for (int lane = 0; lane < lanes_of_warp; ++lane) {
            write(left + lane * wide + wide / 2, y_ + 14, std::to_string(lane), {12, style::muted, Align::centre});
        }
        const int right = left + lanes_of_warp * wide;
        write(right + 30, y_ + 14, "values", {12, style::muted, Align::centre});
        write(right + 80, y_ + 14, "x", {12, style::muted, Align::centre});
        y_ += 20;
        for (std::int64_t step = 0; step < shown_steps(warp); ++step) {
            write(margin, y_ + 22, fmt::format("step {}", step), {14, style::muted});
            std::vector<Box> nonzeros;
            std::vector<Box> padding;
            std::vector<Box> waiting;
            for (int lane = 0; lane < lanes_of_warp; ++lane) {
                const LaneRead& read = warp.at(step, lane);
                (read.array < 0 ? waiting
                 : read.padding ? padding
                                : nonzeros)
                    .push_back({left + lane * wide, y_, wide - 2, height - 2});
            }
            boxes(nonzeros, filling_of(ArrayRole::value));
            boxes(padding, padding_filling);
            boxes(waiting, {waiting_colour});
            for (int lane = 0; lane < lanes_of_warp; ++lane) {
                const LaneRead& read = warp.at(step, lane);
                if (read.array < 0 || read.padding) continue;
                const int centre = left + lane * wide + wide / 2 - 1;
                const auto within = [&](int y, const std::string& text, int size, Colour colour) {
                    const int fitting = fitting_size(text, size, 9, wide - 4);
                    write(centre, y, shortened(text, fitting, wide - 2), {fitting, colour, Align::centre});
                };
                within(y_ + 16, part.arrays[read.array].cells[read.index].text, 14, white);
                if (read.column >= 0) within(y_ + 30, fmt::format("x{}", read.column), 11, column_colour);
            }
            const ReadSectors sectors = sectors_of(warp, step, value_bytes(map.precision));
            write(right + 30, y_ + 22, std::to_string(sectors.values), {14, style::ink, Align::centre});
            write(right + 80, y_ + 22, std::to_string(sectors.x), {14, style::ink, Align::centre});
            y_ += height;
        }
        y_ += 8;
    }

    void warps_side_by_side(const StorageMap& map, const StoragePart& part) {
        constexpr int pitch = 8;
        constexpr int gap = 26;
        const int top = y_;
        const int wide = (content_ + gap) / static_cast<int>(std::min(most_shown_warps, room_.most_warps)) - gap;
        int lowest = y_;
        for (std::size_t i = 0; i < shown_warps(part); ++i) {
            const WarpReads& warp = part.shown_warps[i];
            const std::int64_t steps = shown_steps(warp);
            const int left = margin + static_cast<int>(i) * (wide + gap);
            write(left, top + 14,
                  fmt::format("warp {}, steps: {}{}", grouped(warp.warp), grouped(warp.steps),
                              steps < warp.steps ? fmt::format(", {} shown", steps) : ""),
                  {14, style::ink});
            const Box grid{left, top + 22, lanes_of_warp * pitch + 1, static_cast<int>(steps) * pitch + 1};
            std::vector<Box> nonzeros;
            std::vector<Box> padding;
            std::vector<Box> of_values;
            std::vector<Box> of_x;
            // A sector a lane is the most that a step asks for of x.
            const int bar_room = wide - grid.width - 10;
            for (std::int64_t step = 0; step < steps; ++step) {
                const int at = grid.y + 1 + static_cast<int>(step) * pitch;
                for (int lane = 0; lane < lanes_of_warp; ++lane) {
                    const LaneRead& read = warp.at(step, lane);
                    if (read.array < 0) continue;
                    (read.padding ? padding : nonzeros).push_back({left + 1 + lane * pitch, at, pitch - 1, pitch - 1});
                }
                const ReadSectors sectors = sectors_of(warp, step, value_bytes(map.precision));
                const auto bar = [&](std::size_t count) { return static_cast<int>(count) * bar_room / lanes_of_warp; };
                of_values.push_back({grid.right() + 8, at, bar(sectors.values), 3});
                of_x.push_back({grid.right() + 8, at + 3, bar(sectors.x), 4});
            }
            boxes({grid}, {waiting_colour});
            boxes(nonzeros, filling_of(ArrayRole::value));
            boxes(padding, padding_filling);
            boxes(of_values, {value_colour});
            boxes(of_x, {column_colour});
            lowest = std::max(lowest, grid.bottom());
        }
        y_ = lowest + 10;
    }

    Canvas* canvas_;
    StorageRoom room_;
    int content_;
    int y_ = 0;
    Index columns_ = 0;
};

void draw_part(Sheet& sheet, const StorageMap& map, const StoragePart& part, bool arrays) {
    sheet.set_columns(map.columns);
    sheet.head(part);
    if (!arrays) return sheet.warps(map, part);
    for (const std::vector<int>& numbers : tracks_of(part)) {
        if (map.by_cell) {
            sheet.cells(part, numbers);
            continue;
        }
        for (const int number : numbers) {
            if (!part.arrays[number].bins.empty()) sheet.bins(part, number);
        }
    }
    if (!map.by_cell) sheet.structures(part);
    sheet.warps(map, part);
}

int draw_on(Canvas* canvas, const StoragePicture& picture) {
    Sheet sheet(canvas, picture.room);
    sheet.skip(16);
    sheet.line(picture.title, 26, style::ink);
    if (!picture.subtitle.empty()) sheet.line(picture.subtitle, 16, style::muted);
    if (picture.room.memory_bar) sheet.memory_bar(picture.map);
    sheet.legend(picture.room.arrays);
    for (const StoragePart& part : picture.map.parts) {
        if (picture.room.arrays || !part.shown_warps.empty()) draw_part(sheet, picture.map, part, picture.room.arrays);
    }
    sheet.skip(margin);
    return sheet.bottom();
}

}  // namespace

Filling filling_of(ArrayRole role) {
    switch (role) {
        case ArrayRole::value: return {value_colour};
        case ArrayRole::column: return {column_colour};
        default: return {structure_colour};
    }
}

Filling filling_of_padding() { return padding_filling; }

ChartSize size_of(const StoragePicture& picture) { return {picture.room.width, draw_on(nullptr, picture)}; }

void draw(Canvas& canvas, const StoragePicture& picture) { (void)draw_on(&canvas, picture); }

}  // namespace workbench
