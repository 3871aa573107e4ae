// A canvas for pictures of stored arrays, which is filled from top to bottom.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/storage_picture.hpp"
#include "viz/text.hpp"

namespace workbench {

inline constexpr int storage_margin = 32;  // at the left and at the right

/// All lengths are scaled. Without a canvas, the height alone is measured.
struct StorageCanvas {
    Canvas* canvas;
    const StorageMap& map;
    const StorageDetail& detail;
    double scale = 1;
    int y = 0;

    [[nodiscard]] int content_width() const { return detail.width - 2 * storage_margin; }

    void text(int x, int baseline, std::string_view text, TextStyle style) const {
        if (canvas == nullptr || text.empty()) return;
        style.size = static_cast<int>(style.size * scale);
        canvas->text(scaled(x - detail.crop), scaled(baseline), text, style);
    }
    void boxes(std::vector<Box> boxes, const Filling& filling) const {
        if (canvas == nullptr || boxes.empty()) return;
        // Edges are rounded, so that adjacent boxes remain adjacent.
        for (Box& box : boxes) {
            const Box before{box.x - detail.crop, box.y, box.width, box.height};
            box = {scaled(before.x), scaled(before.y), scaled(before.right()) - scaled(before.x),
                   scaled(before.bottom()) - scaled(before.y)};
        }
        canvas->boxes(boxes, filling);
    }
    void frame(const Box& box, Colour colour) const {
        boxes({{box.x, box.y, box.width, 1},
               {box.x, box.bottom() - 1, box.width, 1},
               {box.x, box.y, 1, box.height},
               {box.right() - 1, box.y, 1, box.height}},
              {colour});
    }
    /// Adds a paragraph; its last line is cut only if it has more lines than any column needs.
    void paragraph(std::string_view words, int size, Colour colour, int space_above = 6) {
        y += space_above;
        constexpr std::size_t most_lines = 20;
        for (const std::string& line : wrapped(words, size, content_width(), most_lines)) {
            y += size;
            text(storage_margin, y, line, {size, colour});
            y += size / 3;
        }
    }

private:
    [[nodiscard]] int scaled(int length) const { return static_cast<int>(std::lround(length * scale)); }
};

}  // namespace workbench
