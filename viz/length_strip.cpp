#include "viz/length_strip.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "viz/density_scale.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

/// Pixels of a length on an axis of this many; whatever is above 0 shows.
int pixels_of(double length, const LengthStrip& strip, int axis_pixels) {
    if (length <= 0) return 0;
    const auto end = static_cast<double>(strip.longest);
    const double share = strip.logarithmic ? std::log1p(length) / std::log1p(end) : length / end;
    return std::max(1, static_cast<int>(std::lround(share * axis_pixels)));
}

void draw_bar(Image& image, const LengthStrip& strip, const LengthStrip::Bar& bar, Box place) {
    constexpr int roomy = 8;
    if (place.height >= roomy) place = {place.x, place.y + 2, place.width, place.height - 3};
    const int mean = pixels_of(bar.mean, strip, place.width);
    const int second = static_cast<int>(std::lround(mean * bar.second_share));
    const int longest = pixels_of(static_cast<double>(bar.longest), strip, place.width);
    fill(image, {place.x, place.y, longest, place.height}, style::light_bar);
    fill(image, {place.x, place.y, mean - second, place.height}, plane_colour(0, DensityScale::middle));
    fill(image, {place.x + mean - second, place.y, second, place.height}, plane_colour(1, DensityScale::middle));
}

/// The number of a row in its bar, or beside it where the bar is too short.
void draw_number(Image& image, Index number, const Box& place, int bar_width) {
    constexpr int smallest = 11;
    constexpr int gap = 6;
    const int size = std::min(place.height * 3 / 5, 20);
    if (size < smallest) return;
    const std::string text = std::to_string(number);
    const bool inside = text_width(text, size) + 2 * gap <= bar_width;
    draw_text(image, place.x + gap + (inside ? 0 : bar_width), place.y + (place.height + size * 7 / 10) / 2, text,
              {size, inside ? white : style::muted});
}

}  // namespace

LengthStrip with_axis(LengthStrip strip, Offset nonzeros, Offset rows) {
    for (const LengthStrip::Bar& bar : strip.bars) strip.longest = std::max(strip.longest, bar.longest);
    strip.logarithmic = static_cast<double>(strip.longest) * static_cast<double>(rows) > 30.0 * static_cast<double>(nonzeros);
    return strip;
}

LengthStrip row_lengths(const PatternRaster& raster) {
    const bool tiles = raster.tiles > 0;
    LengthStrip strip{tiles ? "row in tile" : "row length", {}, {}, raster.row_bins()};
    Offset all_rows = 0;
    for (int bin = 0; bin < raster.row_bins(); ++bin) {
        const auto first = static_cast<double>(raster.row_bin_total(0, bin));
        const auto second = static_cast<double>(raster.row_bin_total(1, bin));
        const Offset rows = tiles ? raster.rows_in_tiles[bin] : raster.row_edges[bin + 1] - raster.row_edges[bin];
        all_rows += rows;
        strip.bars.push_back({raster.longest_row[bin], (first + second) / static_cast<double>(std::max(rows, Offset{1})),
                              second / std::max(first + second, 1.0)});
    }
    return with_axis(std::move(strip), raster.nonzeros, all_rows);
}

LengthStrip stored_row_lengths(const PatternRaster& raster) {
    LengthStrip strip{raster.plane_names.back(), raster.stored_originals, {}, raster.row_bins()};
    Offset nonzeros = 0;
    for (std::size_t bin = 0; bin < raster.stored_total.size(); ++bin) {
        const Index rows = std::min(raster.row_edges[bin + 1], raster.stored_rows) - raster.row_edges[bin];
        strip.bars.push_back({raster.stored_longest[bin], static_cast<double>(raster.stored_total[bin]) / rows, 1.0});
        nonzeros += raster.stored_total[bin];
    }
    return with_axis(std::move(strip), nonzeros, raster.stored_rows);
}

void draw_strip(Image& image, const LengthStrip& strip, const Box& box) {
    if (strip.bars.empty()) return;
    const auto start = [&](std::size_t bin) {
        return box.y + static_cast<int>(static_cast<std::int64_t>(bin) * box.height / strip.row_bins);
    };
    for (std::size_t bin = 0; bin < strip.bars.size(); ++bin) {
        const Box place{box.x, start(bin), box.width, start(bin + 1) - start(bin)};
        const LengthStrip::Bar& bar = strip.bars[bin];
        draw_bar(image, strip, bar, place);
        if (bin < strip.numbers.size()) draw_number(image, strip.numbers[bin], place, pixels_of(bar.mean, strip, place.width));
    }
    fill(image, {box.x - 1, box.y - 1, 1, box.height + 2}, style::faint);
}

void draw_strip_axis(Image& image, const LengthStrip& strip, const Box& box, int text_size) {
    const int baseline = box.y - 12;
    fill(image, {box.x - 1, box.y - 7, 1, 6}, style::faint);
    fill(image, {box.right(), box.y - 7, 1, 6}, style::faint);
    const std::string title = shortened(strip.title, text_size, box.width + text_size);
    draw_text(image, box.x, baseline - text_size * 3 / 2, title, {text_size, style::ink});

    const std::string end = grouped(strip.longest);
    draw_text(image, box.right() + 1, baseline, end, {text_size, style::muted, Align::right});
    const int room = box.width - text_width(end, text_size) - text_size / 2;
    draw_text(image, box.x, baseline, shortened("0", text_size, room), {text_size, style::muted});
    if (strip.logarithmic) {
        draw_text(image, box.right(), box.bottom() + text_size - 1, "log axis", {text_size - 3, style::muted, Align::right});
    }
}

void draw_strip_legend(Image& image, int x, int y, int text_size) {
    const auto entry = [&](int top, Colour colour, std::string_view name) {
        fill(image, {x, top, text_size, text_size}, colour);
        draw_text(image, x + text_size * 3 / 2, top + text_size * 9 / 10, name, {text_size, style::muted});
    };
    entry(y, style::light_bar, "longest");
    entry(y + text_size * 3 / 2, plane_colour(0, DensityScale::middle), "mean");
}

}  // namespace workbench
