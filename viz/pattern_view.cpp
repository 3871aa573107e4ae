#include "viz/pattern_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

constexpr int largest_cell = 120;

/// Where a bin begins, in pixels from the side of the pattern.
int bin_start(int bin, int bins, int pixels) { return bins == 0 ? 0 : static_cast<int>(std::int64_t{bin} * pixels / bins); }

Box bin_box(const PatternRaster& raster, const Box& box, int row_bin, int column_bin) {
    const int left = bin_start(column_bin, raster.column_bins(), box.width);
    const int top = bin_start(row_bin, raster.row_bins(), box.height);
    return {box.x + left, box.y + top, bin_start(column_bin + 1, raster.column_bins(), box.width) - left,
            bin_start(row_bin + 1, raster.row_bins(), box.height) - top};
}

void draw_entry_grid(Image& image, const PatternRaster& raster, const Box& box) {
    for (int bin = 1; bin < raster.row_bins(); ++bin) {
        fill(image, {box.x, box.y + bin_start(bin, raster.row_bins(), box.height), box.width, 1}, style::hairline);
    }
    for (int bin = 1; bin < raster.column_bins(); ++bin) {
        fill(image, {box.x + bin_start(bin, raster.column_bins(), box.width), box.y, 1, box.height}, style::hairline);
    }
}

void draw_value(Image& image, const Box& cell, double value) {
    constexpr int smallest_text = 11;
    const std::string text = (value < 0 ? "−" : "") + fmt::format("{:.4g}", std::abs(value));
    int size = std::min(cell.height * 2 / 5, 30);
    while (size >= smallest_text && text_width(text, size) > cell.width - 8) --size;
    if (size < smallest_text) return;
    draw_text(image, cell.x + cell.width / 2, cell.y + (cell.height + size * 7 / 10) / 2, text, {size, white, Align::centre});
}

void draw_bins(Image& image, const PatternRaster& raster, const DensityScale& scale, const Box& box) {
    for (int row = 0; row < raster.row_bins(); ++row) {
        for (int column = 0; column < raster.column_bins(); ++column) {
            if (raster.count(row, column) == 0) continue;
            Box cell = bin_box(raster, box, row, column);
            if (raster.shows_entries() && cell.width >= 6 && cell.height >= 6) {
                cell = {cell.x + 2, cell.y + 2, cell.width - 3, cell.height - 3};
            }
            fill(image, cell, bin_colour(raster, scale, row, column));
            if (!raster.values.empty()) {
                draw_value(image, cell, raster.values[static_cast<std::size_t>(row) * raster.columns + column]);
            }
        }
    }
}

/// The rows that tiles store, in the upper left corners of their first cells.
void draw_tile_rows(Image& image, const PatternRaster& raster, const Box& box) {
    constexpr int least_cell = 40;
    for (const PatternRaster::TileRow& row : raster.tile_rows) {
        const Box cell = bin_box(raster, box, row.row_bin, row.column_bin);
        if (cell.height < least_cell || cell.width < least_cell) return;
        const int size = std::min(cell.height / 4, 18);
        const bool filled = raster.count(row.row_bin, row.column_bin) > 0;
        draw_text(image, cell.x + 6, cell.y + size + 3, std::to_string(row.original), {size, filled ? white : style::muted});
    }
}

/// Lines would cover pieces that are narrower than this on average.
bool drawable(const std::vector<int>& cuts, int pixels) { return static_cast<int>(cuts.size() + 1) * 4 <= pixels; }

void draw_cuts(Image& image, const PatternRaster& raster, const Box& box) {
    const int thickness = raster.shows_entries() ? 2 : 1;
    if (drawable(raster.row_cuts, box.height)) {
        for (const int bin : raster.row_cuts) {
            const int y = box.y + bin_start(bin, raster.row_bins(), box.height);
            fill(image, {box.x, y, box.width, thickness}, style::ink, 110);
        }
    }
    if (drawable(raster.column_cuts, box.width)) {
        for (const int bin : raster.column_cuts) {
            const int x = box.x + bin_start(bin, raster.column_bins(), box.width);
            fill(image, {x, box.y, thickness, box.height}, style::ink, 110);
        }
    }
    if (raster.partition.empty() || !drawable(raster.partition, std::min(box.width, box.height))) return;
    std::vector<int> ends = raster.partition;
    ends.push_back(raster.row_bins());
    int begin = 0;
    for (const int end : ends) {
        const Box first = bin_box(raster, box, begin, begin);
        const Box last = bin_box(raster, box, end - 1, end - 1);
        // One pixel over the edge, so that neighbours share their lines.
        const Box block{first.x, first.y, last.right() - first.x + 1, last.bottom() - first.y + 1};
        outline(image, block, style::ink, 190);
        if (thickness > 1) outline(image, {block.x + 1, block.y + 1, block.width - 2, block.height - 2}, style::ink, 190);
        begin = end;
    }
}

/// 1, 2 or 5 times a power of ten, so that ticks are at least `apart` pixels from each other.
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

void draw_number_axes(Image& image, const PatternRaster& raster, const Box& box, int text_size) {
    if (raster.columns > 0) {
        const Offset step = tick_step(raster.columns, box.width, text_size * 5);
        for (Offset tick = 0; tick < raster.columns; tick += step) {
            const int x = box.x + static_cast<int>(tick * box.width / raster.columns);
            fill(image, {x, box.y - 7, 1, 6}, style::faint);
            draw_text(image, x, box.y - 12, compact(tick), {text_size, style::muted, tick == 0 ? Align::left : Align::centre});
        }
    }
    if (raster.rows > 0) {
        const Offset step = tick_step(raster.rows, box.height, text_size * 5);
        for (Offset tick = 0; tick < raster.rows; tick += step) {
            const int y = box.y + static_cast<int>(tick * box.height / raster.rows);
            const int baseline = tick == 0 ? y + text_size * 8 / 10 : y + text_size * 36 / 100;
            fill(image, {box.x - 7, y, 6, 1}, style::faint);
            draw_text(image, box.x - 12, baseline, compact(tick), {text_size, style::muted, Align::right});
        }
    }
}

void draw_original_numbers(Image& image, const PatternRaster& raster, const Box& box) {
    for (int row = 0; row < static_cast<int>(raster.original_rows.size()); ++row) {
        const int top = box.y + bin_start(row, raster.row_bins(), box.height);
        const int height = box.height / raster.row_bins();
        const int size = std::clamp(height * 3 / 5, 10, 22);
        draw_text(image, box.x - 10, top + (height + size * 7 / 10) / 2, std::to_string(raster.original_rows[row]),
                  {size, style::muted, Align::right});
    }
    for (int column = 0; column < raster.column_bins(); ++column) {
        const int left = box.x + bin_start(column, raster.column_bins(), box.width);
        const int width = box.width / raster.column_bins();
        draw_text(image, left + width / 2, box.y - 10, std::to_string(raster.original_columns[column]),
                  {std::clamp(width * 3 / 5, 10, 22), style::muted, Align::centre});
    }
}

/// Gives the width drawn: a ramp from one nonzero to the ceiling, or a single swatch where all bins have the same shade.
int draw_shade_bar(Image& image, const DensityScale& scale, int plane, int x, int y, int text_size) {
    const int width = scale.ceiling > 1 ? text_size * 10 : text_size;
    for (int i = 0; i < width; ++i) {
        const double density = std::pow(scale.ceiling, static_cast<double>(i) / (width - 1));
        fill(image, {x + i, y, 1, text_size}, plane_colour(plane, scale.shade(density)));
    }
    return width;
}

/// "8", or "1–2" where bins differ.
std::string bin_length(Index length, int bins) {
    const Index shortest = length / std::max(bins, 1);
    const bool even = bins == 0 || length % bins == 0;
    return even ? grouped(shortest) : grouped(shortest) + "–" + grouped(shortest + 1);
}

/// "8 × 8": rows and columns.
std::string bin_size(const PatternRaster& raster) {
    return bin_length(raster.rows, raster.row_bins()) + " × " + bin_length(raster.columns, raster.column_bins());
}

}  // namespace

Box pattern_box(const PatternRaster& raster, int x, int y, int side) {
    const int bins = std::max({raster.row_bins(), raster.column_bins(), 1});
    const int cell = std::clamp(side / bins, 1, largest_cell);
    const int narrowest = side / 16;
    const auto pixels = [&](int along) {
        const int wider_cell = along == 0 ? 1 : (narrowest + along - 1) / along;
        return along == 0 ? narrowest : along * std::max(cell, std::min(wider_cell, largest_cell));
    };
    return {x, y, pixels(raster.column_bins()), pixels(raster.row_bins())};
}

void draw_pattern(Image& image, const PatternRaster& raster, const DensityScale& scale, const Box& box) {
    if (raster.shows_entries()) draw_entry_grid(image, raster, box);
    draw_bins(image, raster, scale, box);
    draw_tile_rows(image, raster, box);
    outline(image, {box.x - 1, box.y - 1, box.width + 2, box.height + 2}, style::faint);
    draw_cuts(image, raster, box);
}

void draw_axes(Image& image, const PatternRaster& raster, const Box& box, int text_size) {
    if (raster.shows_entries()) {
        draw_original_numbers(image, raster, box);
    } else {
        draw_number_axes(image, raster, box, text_size);
    }
}

int draw_legend(Image& image, const PatternRaster& raster, const DensityScale& scale, int x, int y, int text_size) {
    const int name_baseline = y + text_size * 9 / 10;
    const int tick_baseline = y + text_size * 5 / 2;
    int ticks_end = x;
    for (std::size_t plane = 0; plane < raster.plane_names.size(); ++plane) {
        const int width = draw_shade_bar(image, scale, static_cast<int>(plane), x, y, text_size);
        ticks_end = x + width;
        if (scale.ceiling > 1) {
            draw_text(image, x, tick_baseline, "1", {text_size, style::muted});
            // The scale ends at a density, between two whole numbers of nonzeros in a bin of average size.
            const std::string end = "≥ " + grouped(static_cast<Offset>(std::ceil(scale.ceiling)));
            draw_text(image, ticks_end, tick_baseline, end, {text_size, style::muted, Align::right});
        }
        const int room = text_size * (raster.plane_names.size() == 1 ? 24 : 12);
        const std::string name = shortened(raster.plane_names[plane], text_size, room);
        draw_text(image, ticks_end + text_size / 2, name_baseline, name, {text_size, style::ink});
        x = ticks_end + text_size * 2 + text_width(name, text_size);
    }
    if (!raster.tile_rows.empty()) {
        draw_text(image, ticks_end + text_size, tick_baseline,
                  "in the corners: the rows of the input, as each tile stores them", {text_size, style::muted});
    }
    if (scale.ceiling <= 1) return x;
    const std::string unit = "nonzeros in a bin of " + bin_size(raster);
    draw_text(image, ticks_end + text_size, tick_baseline, unit, {text_size, style::muted});
    return std::max(x, ticks_end + text_size * 2 + text_width(unit, text_size));
}

}  // namespace workbench
