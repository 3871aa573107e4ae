#include "viz/pattern_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "viz/palette.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

/// The first pixel of a bin, relative to the pattern's side.
int bin_start(int bin, int bins, int pixels) { return bins == 0 ? 0 : static_cast<int>(std::int64_t{bin} * pixels / bins); }

Box bin_box(const PatternRaster& raster, const Box& box, int row_bin, int column_bin) {
    const int left = bin_start(column_bin, raster.column_bins(), box.width);
    const int top = bin_start(row_bin, raster.row_bins(), box.height);
    return {box.x + left, box.y + top, bin_start(column_bin + 1, raster.column_bins(), box.width) - left,
            bin_start(row_bin + 1, raster.row_bins(), box.height) - top};
}

struct LineStyle {
    int width = 1;
    Colour colour = style::hairline;
    double opacity = 1;
};

/// A line where the bin begins.
void draw_row_line(Canvas& canvas, const PatternRaster& raster, const Box& box, int bin, const LineStyle& line = {}) {
    const int y = box.y + bin_start(bin, raster.row_bins(), box.height);
    canvas.box(Box{box.x, y, box.width, line.width}, line.colour, line.opacity);
}

void draw_column_line(Canvas& canvas, const PatternRaster& raster, const Box& box, int bin, const LineStyle& line = {}) {
    const int x = box.x + bin_start(bin, raster.column_bins(), box.width);
    canvas.box(Box{x, box.y, line.width, box.height}, line.colour, line.opacity);
}

void draw_entry_grid(Canvas& canvas, const PatternRaster& raster, const Box& box) {
    for (int bin = 1; bin < raster.row_bins(); ++bin) draw_row_line(canvas, raster, box, bin);
    for (int bin = 1; bin < raster.column_bins(); ++bin) draw_column_line(canvas, raster, box, bin);
}

void draw_value(Canvas& canvas, const Box& cell, double value, Colour colour, Unit unit) {
    const int smallest_text = unit(11);
    const std::string text = (value < 0 ? "−" : "") + fmt::format("{:.4g}", std::abs(value));
    int size = std::min(cell.height / 2, unit(36));
    while (size >= smallest_text && text_width(text, size) > cell.width - unit(8)) --size;
    if (size < smallest_text) return;
    canvas.text(cell.x + cell.width / 2, cell.y + (cell.height + size * 7 / 10) / 2, text, {size, colour, Align::centre});
}

void draw_bins(Canvas& canvas, const PatternPlace& pattern) {
    const PatternRaster& raster = pattern.raster;
    if (raster.row_bins() == 0 || raster.column_bins() == 0) return;
    Image bins = blank_image(raster.column_bins(), raster.row_bins());
    for (int row = 0; row < raster.row_bins(); ++row) {
        for (int column = 0; column < raster.column_bins(); ++column) {
            if (raster.count(row, column) == 0) continue;
            fill(bins, {column, row, 1, 1}, bin_colour(raster, pattern.scale, row, column));
        }
    }
    canvas.picture(pattern.box, bins);
}

void draw_entries(Canvas& canvas, const PatternPlace& pattern) {
    const PatternRaster& raster = pattern.raster;
    draw_entry_grid(canvas, raster, pattern.box);
    for (int row = 0; row < raster.row_bins(); ++row) {
        for (int column = 0; column < raster.column_bins(); ++column) {
            if (raster.count(row, column) == 0) continue;
            Box cell = bin_box(raster, pattern.box, row, column);
            if (cell.width >= 6 && cell.height >= 6) cell = {cell.x + 2, cell.y + 2, cell.width - 3, cell.height - 3};
            const Colour colour = bin_colour(raster, pattern.scale, row, column);
            canvas.box(cell, colour);
            const double value = raster.values[static_cast<std::size_t>(row) * raster.columns + column];
            draw_value(canvas, cell, value, text_on(colour), pattern.unit);
        }
    }
}

/// The numbers of the rows that tiles store, in the upper left corners of their first cells.
void draw_tile_rows(Canvas& canvas, const PatternPlace& pattern) {
    const auto& [raster, scale, box, unit] = pattern;
    for (const PatternRaster::TileRow& row : raster.tile_rows) {
        const Box cell = bin_box(raster, box, row.row_bin, row.column_bin);
        if (cell.height < unit(40) || cell.width < unit(40)) return;
        const int size = std::min(cell.height / 4, unit(22));
        const bool filled = raster.count(row.row_bin, row.column_bin) > 0;
        const Colour colour = filled ? text_on(bin_colour(raster, scale, row.row_bin, row.column_bin)) : style::muted;
        canvas.text(cell.x + size / 3, cell.y + size + size / 6, std::to_string(row.original), {size, colour});
    }
}

/// Lines would cover pieces narrower than four pixels.
bool drawable(const std::vector<int>& cuts, int pixels) { return static_cast<int>(cuts.size() + 1) * 4 <= pixels; }

/// The slices of the layout, thinner and paler than cuts.
void draw_slices(Canvas& canvas, const PatternPlace& pattern) {
    const auto& [raster, scale, box, unit] = pattern;
    const LineStyle line{std::max(1, raster.shows_entries() ? unit(2) : 1), style::ink, raster.shows_entries() ? 0.5 : 0.3};
    for (const int bin : drawn_slices(raster, box.height)) draw_row_line(canvas, raster, box, bin, line);
}

void draw_cuts(Canvas& canvas, const PatternPlace& pattern) {
    const auto& [raster, scale, box, unit] = pattern;
    const int thickness = std::max(1, raster.shows_entries() ? unit(3) : unit(1));
    const LineStyle line{thickness, style::ink, 0.5};
    if (drawable(raster.row_cuts, box.height)) {
        for (const int bin : raster.row_cuts) draw_row_line(canvas, raster, box, bin, line);
    }
    if (drawable(raster.column_cuts, box.width)) {
        for (const int bin : raster.column_cuts) draw_column_line(canvas, raster, box, bin, line);
    }
    if (raster.partition.empty() || !drawable(raster.partition, std::min(box.width, box.height))) return;
    std::vector<int> ends = raster.partition;
    ends.push_back(raster.row_bins());
    int begin = 0;
    for (const int end : ends) {
        const Box first = bin_box(raster, box, begin, begin);
        const Box last = bin_box(raster, box, end - 1, end - 1);
        // One pixel wider, so that neighbouring blocks share their lines.
        const Box block{first.x, first.y, last.right() - first.x + 1, last.bottom() - first.y + 1};
        outline(canvas, block, thickness, style::ink, 0.75);
        begin = end;
    }
}

/// The least 1, 2 or 5 times a power of ten with a distance of at least `apart` pixels between ticks.
Offset tick_step(Index length, int pixels, int apart) {
    Offset step = 1;
    const auto too_close = [&](Offset candidate) { return candidate * pixels < Offset{apart} * length; };
    for (Offset power = 1; too_close(step); power *= 10) {
        for (const Offset digit : {1, 2, 5, 10}) {
            step = digit * power;
            if (!too_close(step)) break;
        }
    }
    return step;
}

void draw_number_axes(Canvas& canvas, const PatternRaster& raster, const Box& box, int text_size) {
    if (raster.columns > 0) {
        const Offset step = tick_step(raster.columns, box.width, text_size * 5);
        for (Offset tick = 0; tick < raster.columns; tick += step) {
            const int x = box.x + static_cast<int>(tick * box.width / raster.columns);
            canvas.box(Box{x, box.y - text_size * 2 / 5, 1, text_size / 3}, style::faint);
            canvas.text(x, box.y - text_size * 2 / 3, compact(tick),
                        {text_size, style::muted, tick == 0 ? Align::left : Align::centre});
        }
    }
    if (raster.rows > 0) {
        const Offset step = tick_step(raster.rows, box.height, text_size * 5);
        for (Offset tick = 0; tick < raster.rows; tick += step) {
            const int y = box.y + static_cast<int>(tick * box.height / raster.rows);
            const int baseline = tick == 0 ? y + text_size * 8 / 10 : y + text_size * 36 / 100;
            canvas.box(Box{box.x - text_size * 2 / 5, y, text_size / 3, 1}, style::faint);
            canvas.text(box.x - text_size * 2 / 3, baseline, compact(tick), {text_size, style::muted, Align::right});
        }
    }
}

void draw_original_numbers(Canvas& canvas, const PatternRaster& raster, const Box& box, int text_size) {
    const int smallest = std::max(10, text_size / 2);
    for (int row = 0; row < static_cast<int>(raster.original_rows.size()); ++row) {
        const int top = box.y + bin_start(row, raster.row_bins(), box.height);
        const int height = box.height / raster.row_bins();
        const int size = std::clamp(height * 3 / 5, smallest, text_size);
        canvas.text(box.x - text_size / 3, top + (height + size * 7 / 10) / 2, std::to_string(raster.original_rows[row]),
                    {size, style::muted, Align::right});
    }
    if (raster.column_bins() == 0) return;
    // Only every n-th number, so that they do not overlap.
    const int width = box.width / raster.column_bins();
    const int size = std::clamp(width * 3 / 5, smallest, text_size);
    const int every = 1 + text_width("00", size) / std::max(width, 1);
    for (int column = 0; column < raster.column_bins(); column += every) {
        const int left = box.x + bin_start(column, raster.column_bins(), box.width);
        canvas.text(left + width / 2, box.y - text_size * 2 / 5, std::to_string(raster.original_columns[column]),
                    {size, style::muted, Align::centre});
    }
}

/// Draws a ramp from one nonzero to the ceiling, or a single swatch if all bins have the same shade. Returns the width.
int draw_shade_bar(Canvas& canvas, const DensityScale& scale, int plane, int x, int y, int text_size) {
    if (scale.ceiling <= 1) {
        canvas.box(Box{x, y, text_size, text_size}, plane_colour(plane, scale.shade(1)));
        return text_size;
    }
    constexpr int steps = 64;
    Image ramp = blank_image(steps, 1);
    for (int i = 0; i < steps; ++i) {
        const double density = std::pow(scale.ceiling, static_cast<double>(i) / (steps - 1));
        fill(ramp, {i, 0, 1, 1}, plane_colour(plane, scale.shade(density)));
    }
    canvas.picture({x, y, text_size * 8, text_size}, ramp);
    return text_size * 8;
}

/// "8", or "1–2" if bins differ.
std::string bin_length(Index length, int bins) {
    const Index shortest = length / std::max(bins, 1);
    const bool even = bins == 0 || length % bins == 0;
    return even ? with_commas(shortest) : with_commas(shortest) + "–" + with_commas(shortest + 1);
}

/// "8 × 8": rows and columns.
std::string bin_size(const PatternRaster& raster) {
    return bin_length(raster.rows, raster.row_bins()) + " × " + bin_length(raster.columns, raster.column_bins());
}

}  // namespace

Box pattern_box(const PatternRaster& raster, int x, int y, int side) {
    const int bins = std::max({raster.row_bins(), raster.column_bins(), 1});
    const int largest_cell = std::max(1, side * 3 / 20);
    const int cell = std::clamp(side / bins, 1, largest_cell);
    // A tall pattern is stretched to a quarter of its height, like that of the page; a flat one gets more width instead.
    const auto pixels = [&](int along, int narrowest) {
        const int wider_cell = along == 0 ? 1 : (narrowest + along - 1) / along;
        return along == 0 ? narrowest : along * std::max(cell, std::min(wider_cell, largest_cell));
    };
    return {x, y, pixels(raster.column_bins(), side / 4), pixels(raster.row_bins(), side / 16)};
}

int resolution_for(int side) {
    const int pixels = (side + picture_resolution - 1) / picture_resolution;
    return std::max(16, side / std::max(pixels, 1));
}

void draw_pattern(Canvas& canvas, const PatternPlace& pattern) {
    pattern.raster.shows_entries() ? draw_entries(canvas, pattern) : draw_bins(canvas, pattern);
    draw_tile_rows(canvas, pattern);
    const Box& box = pattern.box;
    outline(canvas, {box.x - 1, box.y - 1, box.width + 2, box.height + 2}, 1, style::faint);
    draw_slices(canvas, pattern);
    draw_cuts(canvas, pattern);
}

void draw_axes(Canvas& canvas, const PatternRaster& raster, const Box& box, int text_size) {
    if (raster.shows_entries()) {
        draw_original_numbers(canvas, raster, box, text_size);
    } else {
        draw_number_axes(canvas, raster, box, text_size);
    }
}

std::vector<int> drawn_slices(const PatternRaster& raster, int height) {
    constexpr std::size_t least_pixels = 8;
    std::vector<int> slices = slice_boundaries(raster);
    if ((slices.size() + 1) * least_pixels > static_cast<std::size_t>(std::max(height, 0))) slices.clear();
    return slices;
}

std::vector<std::string> pattern_notes(const PatternRaster& raster, const Box& box) {
    std::vector<std::string> notes;
    if (raster.tiles > 0) notes.emplace_back("rows are compressed: empty ones of a tile are left out");
    if (!raster.tile_rows.empty()) notes.emplace_back("in the corners: the rows, as the input numbers them");
    if (!drawn_slices(raster, box.height).empty()) {
        notes.push_back(fmt::format("lines: slices of {}{}", counted_with_commas(raster.slice_height, "row"),
                                    bins_fit_slices(raster) ? ", and beside the bars the length to which each is padded" : ""));
    }
    for (const PatternRaster::Pieces& cuts : raster.pieces) {
        std::string kind(name_of(cuts.kind));
        std::replace(kind.begin(), kind.end(), '_', ' ');
        const int pixels = cuts.kind == CutKind::partition ? std::min(box.width, box.height)
                           : cuts_rows(cuts.kind)          ? box.height
                                                           : box.width;
        if (cuts.count > 1 && !drawable(raster.*boundaries_of(cuts.kind), pixels)) {
            notes.push_back(fmt::format("{} {}s: too many for lines between them", with_commas(cuts.count), kind));
        } else if (cuts.lines + 1 < cuts.count) {
            notes.push_back(fmt::format("{} {}s: where they are narrow, several share a line", with_commas(cuts.count), kind));
        }
    }
    return notes;
}

int draw_legend(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const TextPlace& place) {
    const int text_size = place.text_size;
    const int name_baseline = place.y + text_size * 9 / 10;
    const int tick_baseline = place.y + text_size * 9 / 4;
    int x = place.x;
    int ticks_end = x;
    for (std::size_t plane = 0; plane < raster.plane_names.size(); ++plane) {
        ticks_end = x + draw_shade_bar(canvas, scale, static_cast<int>(plane), x, place.y, text_size);
        if (scale.ceiling > 1) {
            canvas.text(x, tick_baseline, "1", {text_size, style::muted});
            // The ceiling is a density and need not be a whole number of nonzeros.
            const std::string end = "≥ " + with_commas(static_cast<Offset>(std::ceil(scale.ceiling)));
            canvas.text(ticks_end, tick_baseline, end, {text_size, style::muted, Align::right});
        }
        const int most_width = text_size * (raster.plane_names.size() == 1 ? 20 : 8);
        const std::string name = shortened(raster.plane_names[plane], text_size, most_width);
        canvas.text(ticks_end + text_size / 2, name_baseline, name, {text_size, style::ink});
        x = ticks_end + text_size * 3 / 2 + text_width(name, text_size);
    }
    if (scale.ceiling <= 1) return place.y + text_size;
    const std::string unit = "nonzeros in a bin of " + bin_size(raster);
    if (ticks_end + text_size / 2 + text_width(unit, text_size) <= place.x + place.width) {
        canvas.text(ticks_end + text_size / 2, tick_baseline, unit, {text_size, style::muted});
        return tick_baseline + text_size / 3;
    }
    const int baseline = tick_baseline + text_size * 4 / 3;
    canvas.text(place.x, baseline, unit, {text_size, style::muted, Align::left, place.width});
    return baseline + text_size / 3;
}

}  // namespace workbench
