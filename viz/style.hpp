// The size of pictures, and the colours of text and lines. The hues of the data are in density_scale.hpp.
#pragma once

#include <cmath>

#include "viz/image.hpp"

namespace workbench {

inline constexpr int nominal_width = 1920;
inline constexpr int nominal_height = 1080;

/// Converts lengths of a picture of nominal size into pixels of a picture of another size.
struct Unit {
    double pixels = 1;

    [[nodiscard]] int operator()(double length) const { return static_cast<int>(std::lround(length * pixels)); }
};

[[nodiscard]] inline Unit unit_of(int width) { return {static_cast<double>(width) / nominal_width}; }

/// The height of a 16:9 picture of this width.
[[nodiscard]] inline int height_of(int width) { return width * nominal_height / nominal_width; }

}  // namespace workbench

namespace workbench::style {

inline constexpr Colour ink{31, 41, 51};          // titles, values, partition boundaries
inline constexpr Colour muted{92, 103, 117};      // labels
inline constexpr Colour faint{138, 149, 163};     // frames, ticks, bars behind others
inline constexpr Colour hairline{226, 230, 235};  // grids, which are no marks

}  // namespace workbench::style
