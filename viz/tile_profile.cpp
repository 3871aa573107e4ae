#include "viz/tile_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "pipeline/matrix/metrics.hpp"
#include "viz/length_strip.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_tiles = 12;

TileProfile profile(const Share& share) {
    TileProfile tile{
        share.id, static_cast<Index>(share.rows.size()), share.row_offsets.back(), warp_iterations(share.row_offsets), {}, {}};
    const int bars = std::min<int>(TileProfile::most_bars, tile.rows);
    tile.longest.resize(bars);
    tile.totals.resize(bars);
    for (Index row = 0; row < tile.rows; ++row) {
        const auto bar = static_cast<std::size_t>(std::int64_t{row} * bars / tile.rows);
        const Offset length = share.row_offsets[row + 1] - share.row_offsets[row];
        tile.longest[bar] = std::max(tile.longest[bar], length);
        tile.totals[bar] += length;
    }
    return tile;
}

bool same_tiles(const TileProfiles& before, const TileProfiles& after) {
    const auto same = [](const TileProfile& a, const TileProfile& b) {
        return a.id == b.id && a.rows == b.rows && a.nonzeros == b.nonzeros;
    };
    return std::equal(before.chosen.begin(), before.chosen.end(), after.chosen.begin(), after.chosen.end(), same);
}

LengthStrip strip_of(const TileProfile& tile) {
    LengthStrip strip{.title = name_of(tile.id), .numbers = {}, .bars = {}, .row_bins = static_cast<int>(tile.longest.size())};
    const std::int64_t bars = strip.row_bins;
    for (std::int64_t bar = 0; bar < bars; ++bar) {
        // Rows r with floor(r * bars / rows) = bar.
        const std::int64_t begin = (bar * tile.rows + bars - 1) / bars;
        const std::int64_t end = ((bar + 1) * tile.rows + bars - 1) / bars;
        strip.bars.push_back({tile.longest[bar], static_cast<double>(tile.totals[bar]) / static_cast<double>(end - begin), 0});
    }
    return with_axis(std::move(strip), tile.nonzeros, tile.rows);
}

// Lengths are those of a picture of 1920 x 1080 (Unit).
constexpr int margin = 48;
constexpr int columns = 6;
constexpr int cell_width = (nominal_width - 2 * margin + 24) / columns;
constexpr int strip_width = 126;
constexpr int strip_gap = 24;
constexpr int head_height = 186;
constexpr int name_height = 100;
constexpr int below_strip = 56;
constexpr int foot_height = 70;
constexpr int text_size = 22;

std::string count_of(Offset count, const std::string& thing) { return grouped(count) + " " + thing + (count == 1 ? "" : "s"); }

/// A tile of few rows has as few bars, no higher than they need to be seen.
int height_of(const TileProfile& tile, int room) {
    const int bars = static_cast<int>(tile.longest.size());
    constexpr int highest_bar = 24;
    return bars * std::clamp(room / std::max(bars, 1), 1, highest_bar);
}

void draw_side(Canvas& canvas, const TileProfile& tile, const std::string& word, const Box& box, Unit unit) {
    const LengthStrip strip = strip_of(tile);
    draw_strip(canvas, strip, box);
    const int small = unit(text_size - 2);
    canvas.text(box.right(), box.y - unit(8), grouped(strip.longest), {small, style::muted, Align::right});
    canvas.text(box.x, box.y - unit(8), word, {small, style::muted});
    canvas.text(box.x, box.bottom() + unit(28), fmt::format("{:.1f} %", 100 * tile.idle()), {unit(26), style::ink});
    const std::string idle = strip.logarithmic ? "idle, log axis" : "idle";
    canvas.text(box.x, box.bottom() + unit(52), shortened(idle, small, box.width), {small, style::muted});
}

void draw_cell(Canvas& canvas, const TileProfile& before, const TileProfile& after, int x, int y, int strip_height, Unit unit) {
    const int room = unit(2 * strip_width + strip_gap);
    const int small = unit(text_size - 2);
    canvas.text(x, y + unit(26), shortened(name_of(after.id), unit(26), room), {unit(26), style::ink});
    const std::string size = count_of(after.nonzeros, "nonzero") + " in";
    canvas.text(x, y + unit(52), shortened(size, small, room), {small, style::muted});
    canvas.text(x, y + unit(74), shortened(count_of(after.rows, "row"), small, room), {small, style::muted});
    const Box left{x, y + unit(name_height), unit(strip_width), height_of(after, strip_height)};
    draw_side(canvas, before, "before", left, unit);
    draw_side(canvas, after, "after", {left.right() + unit(strip_gap), left.y, left.width, left.height}, unit);
}

}  // namespace

double TileProfile::idle() const {
    return steps == 0 ? 0 : 1 - static_cast<double>(nonzeros) / (32 * static_cast<double>(steps));
}

bool TileProfiles::shows_change_of(const TileProfiles& before) const {
    return same_tiles(before, *this) && before.chosen != chosen;
}

TileProfiles profile_tiles(const StagedMatrix& staged) {
    TileProfiles profiles;
    if (!staged.has_tiles()) return profiles;
    std::vector<const Share*> tiles;
    for (const Share& share : staged.shares) {
        if (!share.entries.empty()) tiles.push_back(&share);
    }
    profiles.tiles = static_cast<Index>(tiles.size());
    const std::size_t stretches = std::min(most_tiles, tiles.size());
    for (std::size_t i = 0; i < stretches; ++i) {
        const auto begin = tiles.begin() + static_cast<std::ptrdiff_t>(i * tiles.size() / stretches);
        const auto end = tiles.begin() + static_cast<std::ptrdiff_t>((i + 1) * tiles.size() / stretches);
        const auto fewer = [](const Share* a, const Share* b) { return a->entries.size() < b->entries.size(); };
        profiles.chosen.push_back(profile(**std::max_element(begin, end, fewer)));
    }
    return profiles;
}

void draw_tile_profiles(Canvas& canvas, const TileProfiles& before, const TileProfiles& after, const StageCaption& caption,
                        int width) {
    if (!same_tiles(before, after)) throw std::invalid_argument("draw_tile_profiles: these are not the same tiles");
    const Unit unit{static_cast<double>(width) / nominal_width};
    const int count = static_cast<int>(after.chosen.size());
    const int rows = std::max(1, (count + columns - 1) / columns);
    const int cell_height = unit((nominal_height - head_height - foot_height) / rows);
    const int text_room = unit(nominal_width - 2 * margin);
    const auto line = [&](int baseline, std::string_view text, int size, Colour colour) {
        const int fitting = fitting_size(text, unit(size), unit(18), text_room);
        canvas.text(unit(margin), unit(baseline), shortened(text, fitting, text_room), {fitting, colour});
    };
    line(62, caption.title, 46, style::ink);
    line(104, caption.subtitle, 28, style::muted);
    line(140, "row lengths in tiles, the first stored row on top, rows without nonzeros left out", text_size, style::muted);
    std::string which = "idle: the share of a warp's lanes without a nonzero, 32 rows at a time";
    const auto more_than_bars = [](const TileProfile& tile) { return tile.rows > TileProfile::most_bars; };
    if (std::any_of(after.chosen.begin(), after.chosen.end(), more_than_bars)) which += "; several rows share a bar";
    if (after.tiles > count) which += fmt::format("; {} of {} tiles", count, grouped(after.tiles));
    line(170, which, text_size, style::muted);
    for (int i = 0; i < count; ++i) {
        draw_cell(canvas, before.chosen[i], after.chosen[i], unit(margin + i % columns * cell_width),
                  unit(head_height) + i / columns * cell_height, cell_height - unit(name_height + below_strip), unit);
    }
    draw_strip_legend(canvas, unit(margin), unit(nominal_height - 62), unit(text_size));
    line(nominal_height - 16, caption.origin, text_size, style::muted);
}

Image draw_tile_profiles(const TileProfiles& before, const TileProfiles& after, const StageCaption& caption, int width) {
    RasterCanvas canvas(width, height_of(width));
    draw_tile_profiles(canvas, before, after, caption, width);
    return canvas.image();
}

}  // namespace workbench
