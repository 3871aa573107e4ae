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

constexpr int picture_width = 1440;
constexpr int margin = 48;
constexpr int columns = 6;
constexpr int cell_width = (picture_width - 2 * margin) / columns;
constexpr int strip_width = 88;
constexpr int strip_gap = 20;
constexpr int strip_height = 2 * TileProfile::most_bars;
constexpr int head_height = 176;
constexpr int name_height = 88;
constexpr int foot_height = 64;
constexpr int legend_height = 64;
constexpr int text_size = 17;

std::string count_of(Offset count, const std::string& thing) { return grouped(count) + " " + thing + (count == 1 ? "" : "s"); }

/// A tile of few rows has as few bars, no higher than they need to be seen.
int height_of(const TileProfile& tile) {
    const int bars = static_cast<int>(tile.longest.size());
    return bars * std::min(strip_height / std::max(bars, 1), 12);
}

void draw_side(Image& image, const TileProfile& tile, const std::string& word, const Box& box) {
    const LengthStrip strip = strip_of(tile);
    draw_strip(image, strip, box);
    const std::string end = grouped(strip.longest);
    draw_text(image, box.right(), box.y - 8, end, {text_size - 3, style::muted, Align::right});
    draw_text(image, box.x, box.y - 8, word, {text_size - 3, style::muted});
    draw_text(image, box.x, box.bottom() + 20, fmt::format("{:.1f} %", 100 * tile.idle()), {text_size, style::ink});
    draw_text(image, box.x, box.bottom() + 38, strip.logarithmic ? "idle, log axis" : "idle", {text_size - 3, style::muted});
}

void draw_cell(Image& image, const TileProfile& before, const TileProfile& after, int x, int y) {
    constexpr int room = 2 * strip_width + strip_gap;
    draw_text(image, x, y + 20, shortened(name_of(after.id), 20, room), {20, style::ink});
    draw_text(image, x, y + 42, shortened(count_of(after.nonzeros, "nonzero"), text_size - 3, room),
              {text_size - 3, style::muted});
    draw_text(image, x, y + 60, shortened("in " + count_of(after.rows, "row"), text_size - 3, room),
              {text_size - 3, style::muted});
    const Box left{x, y + name_height, strip_width, height_of(after)};
    draw_side(image, before, "before", left);
    draw_side(image, after, "after", {left.right() + strip_gap, left.y, left.width, left.height});
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

Image draw_tile_profiles(const TileProfiles& before, const TileProfiles& after, const std::string& title,
                         const std::string& subtitle) {
    if (!same_tiles(before, after)) throw std::invalid_argument("draw_tile_profiles: these are not the same tiles");
    const int count = static_cast<int>(after.chosen.size());
    const int rows = (count + columns - 1) / columns;
    int highest = 0;
    for (const TileProfile& tile : after.chosen) highest = std::max(highest, height_of(tile));
    const int cell_height = name_height + highest + foot_height;
    Image image = blank_image(picture_width, head_height + rows * cell_height + legend_height);
    constexpr int text_room = picture_width - 2 * margin;
    draw_text(image, margin, 82, shortened(title, 42, text_room), {42, style::ink});
    draw_text(image, margin, 116, shortened(subtitle, 21, text_room), {21, style::muted});
    std::string which =
        "row lengths in tiles, the first stored row on top; idle: the share of a warp's lanes without a nonzero, 32 rows at a "
        "time";
    if (after.tiles > count) which += fmt::format("; {} of {} tiles", count, grouped(after.tiles));
    draw_text(image, margin, 146, shortened(which, text_size, text_room), {text_size, style::muted});
    for (int i = 0; i < count; ++i) {
        draw_cell(image, before.chosen[i], after.chosen[i], margin + i % columns * cell_width,
                  head_height + i / columns * cell_height);
    }
    draw_strip_legend(image, margin, head_height + rows * cell_height, text_size);
    return image;
}

}  // namespace workbench
