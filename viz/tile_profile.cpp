#include "viz/tile_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "core/matrix/metrics.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "viz/length_strip.hpp"
#include "viz/style.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_tiles = 12;

TileProfile profile(const Share& share) {
    TileProfile tile{.id = share.id,
                     .rows = static_cast<Index>(share.rows.size()),
                     .nonzeros = share.row_offsets.back(),
                     .steps = warp_iterations(share.row_offsets),
                     .longest = {},
                     .totals = {}};
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
    LengthStrip strip{.title = name_of(tile.id), .row_bins = static_cast<int>(tile.longest.size())};
    const std::int64_t bars = strip.row_bins;
    for (std::int64_t bar = 0; bar < bars; ++bar) {
        // Rows r with floor(r * bars / rows) = bar.
        const std::int64_t begin = (bar * tile.rows + bars - 1) / bars;
        const std::int64_t end = ((bar + 1) * tile.rows + bars - 1) / bars;
        strip.bars.push_back({tile.longest[bar], static_cast<double>(tile.totals[bar]) / static_cast<double>(end - begin), 0});
    }
    return with_axis(std::move(strip), tile.nonzeros, tile.rows);
}

// In nominal lengths (Unit).
constexpr int tiles_margin = 48;
constexpr int columns = 6;
constexpr int cell_width = (nominal_width - 2 * tiles_margin + 24) / columns;
constexpr int tile_strip_width = 126;
constexpr int tile_strip_gap = 24;
constexpr int head_height = 186;
constexpr int name_height = 100;
constexpr int below_strip = 56;
constexpr int foot_height = 70;
constexpr int text_size = 22;

/// Bars of short tiles are not stretched beyond a readable height.
int height_of_strip(const TileProfile& tile, int most_height) {
    const int bars = static_cast<int>(tile.longest.size());
    constexpr int highest_bar = 24;
    return bars * std::clamp(most_height / std::max(bars, 1), 1, highest_bar);
}

void draw_side(Canvas& canvas, const TileProfile& tile, const std::string& word, const Box& box, Unit unit) {
    const LengthStrip strip = strip_of(tile);
    draw_strip(canvas, strip, box);
    const int small = unit(text_size - 2);
    canvas.text(box.right(), box.y - unit(8), with_commas(strip.longest), {small, style::muted, Align::right});
    canvas.text(box.x, box.y - unit(8), word, {small, style::muted});
    canvas.text(box.x, box.bottom() + unit(28), fmt::format("{:.1f} %", 100 * tile.idle()), {unit(26), style::ink});
    const std::string idle = strip.logarithmic ? "idle, log(1 + n)" : "idle";
    canvas.text(box.x, box.bottom() + unit(52), idle, {small, style::muted, Align::left, box.width});
}

void draw_cell(Canvas& canvas, const TileProfile& before, const TileProfile& after, const Box& cell, Unit unit) {
    const auto line = [&](int baseline, const std::string& text, int size, Colour colour) {
        canvas.text(cell.x, cell.y + unit(baseline), text, {unit(size), colour, Align::left, cell.width});
    };
    line(26, name_of(after.id), 26, style::ink);
    line(52, counted_with_commas(after.nonzeros, "nonzero") + " in", text_size - 2, style::muted);
    line(74, counted_with_commas(after.rows, "row"), text_size - 2, style::muted);
    const int height = height_of_strip(after, cell.height - unit(name_height + below_strip));
    const Box left{cell.x, cell.y + unit(name_height), unit(tile_strip_width), height};
    draw_side(canvas, before, "before", left, unit);
    draw_side(canvas, after, "after", {left.right() + unit(tile_strip_gap), left.y, left.width, left.height}, unit);
}

/// Explains the bars, and how many tiles are shown.
std::string notes_of(const TileProfiles& profiles) {
    std::string notes = "idle: the share of a warp's lanes without a nonzero, 32 rows at a time";
    const auto more_than_bars = [](const TileProfile& tile) { return tile.rows > TileProfile::most_bars; };
    if (std::any_of(profiles.chosen.begin(), profiles.chosen.end(), more_than_bars)) notes += "; several rows share a bar";
    const auto count = static_cast<Index>(profiles.chosen.size());
    if (profiles.tiles > count) notes += fmt::format("; {} of {}", count, counted_with_commas(profiles.tiles, "tile"));
    return notes;
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
    const std::size_t parts = std::min(most_tiles, tiles.size());
    for (std::size_t i = 0; i < parts; ++i) {
        const auto begin = tiles.begin() + static_cast<std::ptrdiff_t>(i * tiles.size() / parts);
        const auto end = tiles.begin() + static_cast<std::ptrdiff_t>((i + 1) * tiles.size() / parts);
        const auto fewer = [](const Share* a, const Share* b) { return a->entries.size() < b->entries.size(); };
        profiles.chosen.push_back(profile(**std::max_element(begin, end, fewer)));
    }
    return profiles;
}

PictureSize size_of(const TileProfilePicture& picture) { return {picture.width, height_of(picture.width)}; }

void draw(Canvas& canvas, const TileProfilePicture& picture) {
    const auto& [before, after, caption, width] = picture;
    if (!same_tiles(before, after)) throw std::invalid_argument("the profiles are not of the same tiles");
    const Unit unit = unit_of(width);
    const int count = static_cast<int>(after.chosen.size());
    const int rows = std::max(1, (count + columns - 1) / columns);
    const int cell_height = unit((nominal_height - head_height - foot_height) / rows);
    const auto line = [&](int baseline, std::string_view text, int size, Colour colour) {
        canvas.text(unit(tiles_margin), unit(baseline), text,
                    {unit(size), colour, Align::left, unit(nominal_width - 2 * tiles_margin), unit(18)});
    };
    line(62, caption.title, 46, style::ink);
    line(104, caption.subtitle, 28, style::muted);
    line(140, "row lengths in tiles, the first stored row on top, rows without nonzeros left out", text_size, style::muted);
    line(170, notes_of(after), text_size, style::muted);
    for (int i = 0; i < count; ++i) {
        const Box cell{unit(tiles_margin + i % columns * cell_width), unit(head_height) + i / columns * cell_height,
                       unit(2 * tile_strip_width + tile_strip_gap), cell_height};
        draw_cell(canvas, before.chosen[i], after.chosen[i], cell, unit);
    }
    draw_strip_legend(canvas, unit(tiles_margin), unit(nominal_height - 62), unit(text_size));
    line(nominal_height - 16, caption.origin, text_size, style::muted);
}

}  // namespace workbench
