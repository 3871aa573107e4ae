#include "viz/memory_bar.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace workbench {

Filling filling_of(ArrayRole role) {
    switch (role) {
        case ArrayRole::value: return {value_colour.colour};
        case ArrayRole::column: return {column_colour.colour};
        default: return {structure_colour.colour};
    }
}

std::vector<BarPiece> memory_bar(const StorageMap& map, const Box& bar, double (*round)(double)) {
    const auto total = static_cast<double>(std::max<std::size_t>(map.bytes(), 1));
    std::vector<BarPiece> pieces;
    std::size_t before = 0;
    int left = bar.x;
    for (const StoragePart& part : map.parts) {
        for (const StorageArray& array : part.arrays) {
            before += array.bytes();
            const int right =
                bar.x + static_cast<int>(round(static_cast<double>(bar.width) * static_cast<double>(before) / total));
            const auto padding = array.length == 0 ? 0 : static_cast<int>((right - left) * array.padding / array.length);
            pieces.push_back({part, array, {left, bar.y, right - left, bar.height}, padding});
            left = right;
        }
    }
    return pieces;
}

std::array<std::pair<Box, Filling>, 3> boxes_of(const BarPiece& piece, int divider) {
    const auto& [x, y, width, height] = piece.box;
    const int filled = width - piece.padding_width;
    return {{{{x, y, filled, height}, filling_of(piece.array.role)},
             {{x + filled, y, piece.padding_width, height}, padding_filling},
             {{x, y, divider, height}, {style::ink}}}};
}

void storage_bar(Canvas& canvas, const StorageMap& map, const Box& box, Unit unit) {
    const int size = unit(22);
    const Offset places = map.places();
    const std::string words = fmt::format("stored: {} in {}, {:.1f} % of padding, {} bytes",
                                          counted_with_commas(map.nonzeros, "nonzero"), counted_with_commas(places, "place"),
                                          100.0 * map.padding_share(), with_commas(static_cast<Offset>(map.bytes())));
    const int baseline = box.y + unit(26);
    canvas.text(box.x, baseline, words, {size, style::ink});
    const std::array<std::pair<const char*, Filling>, 4> keys{{{"structure", filling_of(ArrayRole::structure)},
                                                               {"columns", filling_of(ArrayRole::column)},
                                                               {"padding", padding_filling},
                                                               {"values", filling_of(ArrayRole::value)}}};
    int right = box.right();
    for (const auto& [name, filling] : keys) {
        const int left = right - text_width(name, size);
        canvas.text(left, baseline, name, {size, style::muted});
        const Box swatch{left - unit(40), baseline - unit(16), unit(32), unit(18)};
        canvas.boxes(std::array{swatch}, filling);
        outline(canvas, swatch, unit(1), style::muted);
        right = swatch.x - unit(24);
    }
    const Box bar{box.x, box.y + unit(40), box.width, unit(40)};
    const int line = std::max(1, unit(1));
    for (const BarPiece& piece : memory_bar(map, bar, std::round)) {
        for (const auto& [part, filling] : boxes_of(piece, line)) canvas.boxes(std::array{part}, filling);
    }
    outline(canvas, bar, line, style::ink);
}

}  // namespace workbench
