// Boxes side by side in the plane.
#pragma once

#include <span>
#include <vector>

namespace workbench {

struct BoxSize {
    double width = 0;
    double height = 0;
};

struct BoxPlace {
    double left = 0;
    double top = 0;
};

/// Places boxes without overlap in an area whose width is about `aspect` times its height. Boxes are in shelves from the top
/// down, the highest first; lower boxes are stacked in columns of a shelf. O(n log n). Source: next-fit decreasing height
/// (Coffman, Garey, Johnson, Tarjan, "Performance bounds for level-oriented two-dimensional packing algorithms", SIAM J.
/// Computing 1980), with columns in the shelves.
[[nodiscard]] std::vector<BoxPlace> pack_boxes(std::span<const BoxSize> boxes, double aspect);

}  // namespace workbench
