// The colours of all pictures, charts and pages. On white, marks have a contrast of 3 : 1 or more, texts of 4.5 : 1
// (tests/viz/palette_test.cpp). Colours that differ only in hue never meet without a second sign: a name, a marker or a
// lightness.
#pragma once

#include <array>
#include <string>

#include "viz/image.hpp"

namespace workbench {

/// A hue, as lines and points have it on white. Pages compute other lightnesses of it, for both themes.
struct PaletteHue {
    int degrees;  // in OKLCH
    Colour colour;
};

/// Blue, orange, green, purple, teal, red.
inline constexpr std::array<PaletteHue, 6> hues{{{252, {37, 107, 177}},
                                                 {62, {194, 110, 0}},
                                                 {148, {24, 136, 58}},
                                                 {320, {138, 61, 154}},
                                                 {222, {26, 142, 173}},
                                                 {30, {200, 49, 34}}}};

/// An array of a layout: the hue of its role, and its filling in pictures of the storage.
struct RoleColour {
    int hue;  // in `hues`
    Colour colour;
};

inline constexpr RoleColour value_colour{0, {33, 85, 139}};
inline constexpr RoleColour column_colour{2, {60, 153, 80}};
inline constexpr RoleColour structure_colour{3, {161, 114, 172}};
inline constexpr Colour padding_colour{184, 78, 18};  // of hatches and texts on white

/// The contrast of two colours, 1 to 21, as WCAG 2 defines it.
[[nodiscard]] double contrast(Colour a, Colour b);

/// Black or white, whichever can be read better on this colour; their contrast is at least 4.58.
[[nodiscard]] Colour text_on(Colour background);

/// The hues as variables of CSS: --hues, in order, and --hue-value, --hue-column and --hue-structure of the roles.
[[nodiscard]] std::string palette_css();

}  // namespace workbench
