// The colours of text and lines, common to all pictures. The hues of the data are in density_scale.hpp.
#pragma once

#include <cmath>

#include "viz/image.hpp"

namespace workbench {

/// Lengths of a picture are given for one of 1920 x 1080 pixels; a larger or smaller one has so many pixels for each.
struct Unit {
    double pixels = 1;

    [[nodiscard]] int operator()(double length) const { return static_cast<int>(std::lround(length * pixels)); }
};

inline constexpr int nominal_width = 1920;
inline constexpr int nominal_height = 1080;

}  // namespace workbench

namespace workbench::style {

inline constexpr Colour ink{31, 41, 51};          // titles, values, partition boundaries
inline constexpr Colour muted{92, 103, 117};      // labels
inline constexpr Colour faint{160, 169, 181};     // frames, ticks, what did not change
inline constexpr Colour hairline{226, 230, 235};  // grids
inline constexpr Colour light_bar{208, 215, 224};

}  // namespace workbench::style
