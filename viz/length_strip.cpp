#include "viz/length_strip.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/text/text_table.hpp"
#include "viz/palette.hpp"
#include "viz/pattern_view.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

/// The pixels of a length on an axis of `axis_pixels`; at least one for a positive length.
int pixels_of(double length, const LengthStrip& strip, int axis_pixels) {
    if (length <= 0) return 0;
    const auto end = static_cast<double>(strip.longest);
    const double share = strip.logarithmic ? std::log1p(length) / std::log1p(end) : length / end;
    return std::max(1, static_cast<int>(std::lround(share * axis_pixels)));
}

/// Bars of one hue whose rows are all about equally long would be one solid area.
bool are_alike(const LengthStrip& strip) {
    constexpr double least = 0.75;  // of the longest row, as the mean of a bar
    constexpr std::size_t few = 40;
    const double shortest = least * static_cast<double>(strip.longest);
    return strip.bars.size() > few && std::all_of(strip.bars.begin(), strip.bars.end(), [&](const LengthStrip::Bar& bar) {
               return bar.mean > shortest && bar.second_share == 0;
           });
}

/// `ends_only`: draws only the end of the bar in full.
void draw_bar(Canvas& canvas, const LengthStrip& strip, const LengthStrip::Bar& bar, Box place, bool ends_only) {
    constexpr int least_height_with_gaps = 8;
    if (place.height >= least_height_with_gaps) place = {place.x, place.y + 2, place.width, place.height - 3};
    if (place.height < 1) return;
    const int mean = pixels_of(bar.mean, strip, place.width);
    const int second = static_cast<int>(std::lround(mean * bar.second_share));
    const int longest = pixels_of(static_cast<double>(bar.longest), strip, place.width);
    const int end = std::max(2, place.width / 16);
    if (ends_only && mean > end) {
        canvas.box(Box{place.x, place.y, mean - end, place.height}, plane_colour(0, DensityScale::middle), 0.25);
        canvas.box(Box{place.x + mean - end, place.y, end, place.height}, plane_colour(0, DensityScale::middle));
        return;
    }
    canvas.box(Box{place.x, place.y, longest, place.height}, style::faint);
    canvas.box(Box{place.x, place.y, mean - second, place.height}, plane_colour(0, DensityScale::middle));
    canvas.box(Box{place.x + mean - second, place.y, second, place.height}, plane_colour(1, DensityScale::middle));
}

/// The number of a row in its bar, or beside it if the bar is too short.
void draw_number(Canvas& canvas, Index number, const Box& place, int bar_width, Colour bar) {
    constexpr int smallest = 11;
    constexpr int gap = 6;
    const int size = std::min(place.height * 3 / 5, 22);
    if (size < smallest) return;
    const std::string text = std::to_string(number);
    const bool inside = text_width(text, size) + 2 * gap <= bar_width;
    canvas.text(place.x + gap + (inside ? 0 : bar_width), place.y + (place.height + size * 7 / 10) / 2, text,
                {size, inside ? text_on(bar) : style::muted});
}

/// Lines between slices, and one beside each slice at the length to which its rows are padded.
void draw_slices(Canvas& canvas, const LengthStrip& strip, const Box& box) {
    constexpr double opacity = 0.5;
    const auto y_of = [&](int bin) { return box.y + static_cast<int>(std::int64_t{bin} * box.height / strip.row_bins); };
    for (std::size_t slice = 0; slice + 1 < strip.slices.size(); ++slice) {
        const int top = y_of(strip.slices[slice]);
        if (slice > 0) canvas.box(Box{box.x, top, box.width, 1}, style::ink, opacity);
        if (strip.padded.empty()) continue;
        const int right = box.x + pixels_of(static_cast<double>(strip.padded[slice]), strip, box.width);
        canvas.box(Box{right, top, 1, y_of(strip.slices[slice + 1]) - top}, style::ink, opacity);
    }
}

void add_slices(const PatternRaster& raster, int height, LengthStrip& strip) {
    const std::vector<int> boundaries = drawn_slices(raster, height);
    if (boundaries.empty()) return;
    strip.slices.push_back(0);
    strip.slices.insert(strip.slices.end(), boundaries.begin(), boundaries.end());
    strip.slices.push_back(raster.row_bins());
    if (!bins_fit_slices(raster)) return;
    for (std::size_t slice = 0; slice + 1 < strip.slices.size(); ++slice) {
        const auto bin = raster.longest_row.begin();
        strip.padded.push_back(*std::max_element(bin + strip.slices[slice], bin + strip.slices[slice + 1]));
    }
}

}  // namespace

LengthStrip with_axis(LengthStrip strip, Offset nonzeros, Offset rows) {
    for (const LengthStrip::Bar& bar : strip.bars) strip.longest = std::max(strip.longest, bar.longest);
    strip.logarithmic = static_cast<double>(strip.longest) * static_cast<double>(rows) > 30.0 * static_cast<double>(nonzeros);
    return strip;
}

LengthStrip row_lengths(const PatternRaster& raster, int height) {
    const bool tiles = raster.tiles > 0;
    LengthStrip strip{.title = tiles ? "row in tile" : "row length", .row_bins = raster.row_bins()};
    Offset all_rows = 0;
    for (int bin = 0; bin < raster.row_bins(); ++bin) {
        const auto first = static_cast<double>(raster.row_bin_total(0, bin));
        const auto second = static_cast<double>(raster.row_bin_total(1, bin));
        const Offset rows = tiles ? raster.rows_in_tiles[bin] : raster.row_edges[bin + 1] - raster.row_edges[bin];
        all_rows += rows;
        strip.bars.push_back({raster.longest_row[bin], (first + second) / static_cast<double>(std::max(rows, Offset{1})),
                              second / std::max(first + second, 1.0)});
    }
    add_slices(raster, height, strip);
    return with_axis(std::move(strip), raster.nonzeros, all_rows);
}

LengthStrip stored_row_lengths(const PatternRaster& raster) {
    LengthStrip strip{.title = raster.plane_names.back(), .numbers = raster.stored_originals, .row_bins = raster.row_bins()};
    Offset nonzeros = 0;
    for (std::size_t bin = 0; bin < raster.stored_total.size(); ++bin) {
        const Index rows = std::min(raster.row_edges[bin + 1], raster.stored_rows) - raster.row_edges[bin];
        strip.bars.push_back({raster.stored_longest[bin], static_cast<double>(raster.stored_total[bin]) / rows, 1.0});
        nonzeros += raster.stored_total[bin];
    }
    return with_axis(std::move(strip), nonzeros, raster.stored_rows);
}

void draw_strip(Canvas& canvas, const LengthStrip& strip, const Box& box) {
    if (strip.bars.empty()) return;
    const auto start = [&](std::size_t bin) {
        return box.y + static_cast<int>(static_cast<std::int64_t>(bin) * box.height / strip.row_bins);
    };
    const bool ends_only = are_alike(strip);
    for (std::size_t bin = 0; bin < strip.bars.size(); ++bin) {
        const Box place{box.x, start(bin), box.width, start(bin + 1) - start(bin)};
        const LengthStrip::Bar& bar = strip.bars[bin];
        draw_bar(canvas, strip, bar, place, ends_only);
        if (bin >= strip.numbers.size()) continue;
        draw_number(canvas, strip.numbers[bin], place, pixels_of(bar.mean, strip, place.width),
                    plane_colour(bar.second_share > 0.5 ? 1 : 0, DensityScale::middle));
    }
    canvas.box(Box{box.x - 1, box.y - 1, 1, box.height + 2}, style::faint);
    draw_slices(canvas, strip, box);
}

void draw_strip_axis(Canvas& canvas, const LengthStrip& strip, const Box& box, int text_size) {
    const int baseline = box.y - text_size * 2 / 3;
    const int tick = box.y - text_size * 2 / 5;
    canvas.box(Box{box.x - 1, tick, 1, text_size / 3}, style::faint);
    canvas.box(Box{box.right(), tick, 1, text_size / 3}, style::faint);
    canvas.text(box.x, baseline - text_size * 3 / 2, strip.title, {text_size, style::ink, Align::left, box.width + text_size});

    const std::string end = with_commas(strip.longest);
    canvas.text(box.right() + 1, baseline, end, {text_size, style::muted, Align::right});
    const int left = box.width - text_width(end, text_size) - text_size / 2;
    canvas.text(box.x, baseline, "0", {text_size, style::muted, Align::left, left});
    if (strip.logarithmic) {
        canvas.text(box.right(), box.bottom() + text_size, "log(1 + n)", {text_size, style::muted, Align::right});
    }
}

double draw_column_lengths(Canvas& canvas, const PatternRaster& raster, const Box& box) {
    std::vector<double> means;
    for (int column = 0; column < raster.column_bins(); ++column) {
        Offset total = 0;
        for (int row = 0; row < raster.row_bins(); ++row) total += raster.count(row, column);
        means.push_back(static_cast<double>(total) / (raster.column_edges[column + 1] - raster.column_edges[column]));
    }
    const double highest = means.empty() ? 0 : *std::max_element(means.begin(), means.end());
    if (highest <= 0) return 0;
    const auto start = [&](std::size_t bin) {
        return static_cast<int>(static_cast<std::int64_t>(bin) * box.width / static_cast<std::int64_t>(means.size()));
    };
    for (std::size_t bin = 0; bin < means.size(); ++bin) {
        const int height = static_cast<int>(std::lround(means[bin] / highest * box.height));
        canvas.box(Box{box.x + start(bin), box.y, start(bin + 1) - start(bin), height}, plane_colour(0, DensityScale::middle));
    }
    canvas.box(Box{box.x - 1, box.y, box.width + 2, 1}, style::faint);
    return highest;
}

void draw_strip_legend(Canvas& canvas, int x, int y, int text_size) {
    const auto entry = [&](Colour colour, std::string_view name) {
        canvas.box(Box{x, y, text_size, text_size}, colour);
        canvas.text(x + text_size * 3 / 2, y + text_size * 9 / 10, name, {text_size, style::muted});
        x += text_size * 5 / 2 + text_width(name, text_size);
    };
    entry(plane_colour(0, DensityScale::middle), "mean row");
    entry(style::faint, "longest row");
}

}  // namespace workbench
