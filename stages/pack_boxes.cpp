#include "stages/pack_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace workbench {
namespace {

struct Packing {
    std::vector<BoxPlace> places;  // [boxes]
    BoxSize used;
};

/// Packs boxes in the given order, which is by descending height, into an area of the given width.
Packing packed(std::span<const BoxSize> boxes, std::span<const std::size_t> order, double width) {
    Packing result{std::vector<BoxPlace>(boxes.size()), {}};
    BoxPlace shelf;
    double shelf_height = 0;
    BoxPlace column;  // in the shelf
    double column_width = 0;
    for (const std::size_t i : order) {
        const BoxSize& box = boxes[i];
        const bool fits_below = box.width <= column_width && column.top + box.height <= shelf.top + shelf_height;
        if (!fits_below) {
            column = {column.left + column_width, shelf.top};
            if (column.left + box.width > width || shelf_height == 0) {
                shelf.top += shelf_height;
                shelf_height = box.height;
                column = shelf;
            }
            column_width = box.width;
        }
        result.places[i] = column;
        column.top += box.height;
        result.used.width = std::max(result.used.width, column.left + box.width);
        result.used.height = std::max(result.used.height, column.top);
    }
    return result;
}

}  // namespace

std::vector<BoxPlace> pack_boxes(std::span<const BoxSize> boxes, double aspect) {
    if (boxes.empty()) return {};
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(-boxes[a].height, -boxes[a].width, a) < std::tuple(-boxes[b].height, -boxes[b].width, b);
    });
    double widest = 0;
    double area = 0;
    for (const BoxSize& box : boxes) {
        widest = std::max(widest, box.width);
        area += box.width * box.height;
    }
    // The least width leaves the least room on the shelves; wider ones suit the aspect better.
    constexpr int widths = 16;
    const double least = std::max(widest, std::sqrt(area * aspect) * 0.9);
    Packing best;
    double best_size = 0;
    for (int i = 0; i < widths; ++i) {
        Packing one = packed(boxes, order, least * (1 + i / 12.0));
        const double size = std::max(one.used.width / aspect, one.used.height);
        if (!best.places.empty() && size >= best_size) continue;
        best = std::move(one);
        best_size = size;
    }
    return best.places;
}

}  // namespace workbench
