// The colours of all pictures, charts and pages. On white, marks have a contrast of 3 : 1 or more, texts of 4.5 : 1
// (tests/viz/palette_test.cpp). Colours that differ only in hue never meet without a second sign: a name, a marker or a
// lightness.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// Shades grow with the logarithm of the density, from one nonzero in a bin, which is still visible on white, to the ceiling,
/// so that a few dense blocks do not wash out the rest. A low ceiling uses only the middle of the ramp, because one and two
/// nonzeros should not differ strongly.
///
/// Density is measured in nonzeros per bin of average size. Bins may differ by a row or a column, and plain counts would show
/// that difference as a grid.
struct DensityScale {
    double ceiling = 1;  // nonzeros in a bin of average size; >= 1

    static constexpr int lightest = 0;
    static constexpr int middle = 96;
    static constexpr int darkest = 255;

    /// lightest .. darkest for a density above 0; always `middle` if the ceiling is 1.
    [[nodiscard]] int shade(double density) const;
};

/// The nonzeros that the bin would contain if it had average size.
[[nodiscard]] double bin_density(const PatternRaster& raster, int row_bin, int column_bin);

/// The scale of a recipe. The ceiling is the highest 99th percentile of any raster over its nonempty bins, so that a scattered
/// stage with many thin bins does not determine the scale of a compact one. All rasters have the same matrix and resolution.
[[nodiscard]] DensityScale common_scale(std::span<const PatternRaster> rasters);

/// The colour of plane 0 (blue) or plane 1 (orange) at a shade. They can be distinguished with every common kind of colour
/// blindness, and without colour, because the lightest blue is darker than the darkest orange.
[[nodiscard]] Colour plane_colour(int plane, int shade);

/// The colour of a bin: density as shade, the shares of the planes as hue. White if the bin is empty.
[[nodiscard]] Colour bin_colour(const PatternRaster& raster, const DensityScale& scale, int row_bin, int column_bin);

/// A hue, as lines and points have it on white. Pages compute other lightnesses of it, for both themes.
struct PaletteHue {
    int degrees = 0;  // in OKLCH
    Colour colour;
};

/// Blue, orange, green, purple, teal, red.
inline constexpr std::array<PaletteHue, 6> hues{{{252, {37, 107, 177}},
                                                 {62, {194, 110, 0}},
                                                 {148, {24, 136, 58}},
                                                 {320, {138, 61, 154}},
                                                 {222, {26, 142, 173}},
                                                 {30, {200, 49, 34}}}};

/// Other colours for the hues, in their order, for the plots and pictures of a paper.
struct PaperPalette {
    std::string_view name;
    std::array<Colour, hues.size()> colours;
    bool is_grey = false;  // all other colours become greys of the same luminance
};

/// The first is that of `hues`. The second is that of Okabe and Ito, "Color Universal Design" (2008), which people with any
/// common kind of colour blindness can tell apart.
inline constexpr std::array<PaperPalette, 3> paper_palettes{
    {{"default", {hues[0].colour, hues[1].colour, hues[2].colour, hues[3].colour, hues[4].colour, hues[5].colour}},
     {"okabe-ito", {{{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233}, {213, 94, 0}}}},
     {"grey", {{{0, 0, 0}, {150, 150, 150}, {75, 75, 75}, {115, 115, 115}, {185, 185, 185}, {38, 38, 38}}}, true}}};

/// Throws std::invalid_argument if there is none of this name.
[[nodiscard]] const PaperPalette& paper_palette(std::string_view name);

/// The colour that takes the place of this one.
[[nodiscard]] Colour in_palette(Colour colour, const PaperPalette& palette);

/// An array of a layout: the hue of its role, and its filling in pictures of the storage.
struct RoleColour {
    int hue = 0;  // in `hues`
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
