// The palette: contrasts on white, hues, and the texts on coloured cells.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <stdexcept>
#include <vector>

#include "viz/chart.hpp"
#include "viz/memory_bar.hpp"
#include "viz/palette.hpp"
#include "viz/raster.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr double for_marks = 3;
constexpr double for_texts = 4.5;

/// The hue of a colour in OKLCH, in degrees (Ottosson, "A perceptual color space for image processing", 2020).
double hue_of(Colour colour) {
    const auto linear = [](int channel) {
        const double share = channel / 255.0;
        return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    const double red = linear(colour.red);
    const double green = linear(colour.green);
    const double blue = linear(colour.blue);
    const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    const double a = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    const double b = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
    return std::fmod(std::atan2(b, a) * 180 / std::numbers::pi + 360, 360);
}

}  // namespace

TEST_SUITE("palette") {
    TEST_CASE("contrasts of known colours") {
        CHECK(contrast(white, {}) == doctest::Approx(21));
        CHECK(contrast({}, white) == doctest::Approx(21));
        CHECK(contrast(white, white) == doctest::Approx(1));
        CHECK(contrast(white, {118, 118, 118}) == doctest::Approx(4.54).epsilon(0.001));
        CHECK(contrast(white, {10, 10, 10}) == doctest::Approx(19.80).epsilon(0.001));
        CHECK(text_on(white) == Colour{});
        CHECK(text_on({}) == white);
    }

    TEST_CASE("the palettes of papers replace the hues, and grey everything") {
        const PaperPalette& usual = paper_palette("default");
        const PaperPalette& for_all = paper_palette("okabe-ito");
        const PaperPalette& grey = paper_palette("grey");
        CHECK_THROWS_AS((void)paper_palette("gray"), std::invalid_argument);
        std::set<int> levels;
        for (std::size_t i = 0; i < hues.size(); ++i) {
            CHECK(in_palette(hues.at(i).colour, usual) == hues.at(i).colour);
            CHECK(in_palette(hues.at(i).colour, for_all) == for_all.colours.at(i));
            levels.insert(in_palette(hues.at(i).colour, grey).red);
        }
        CHECK(levels.size() == hues.size());
        constexpr Colour other{200, 100, 50};
        CHECK(in_palette(other, for_all) == other);
        const Colour shade = in_palette(other, grey);
        CHECK(shade.red == shade.green);
        CHECK(shade.red == shade.blue);
        CHECK(contrast(shade, white) == doctest::Approx(contrast(other, white)).epsilon(0.01));
        CHECK(in_palette(white, grey) == white);
        CHECK(in_palette({3, 3, 3}, grey) == Colour{3, 3, 3});
    }

    TEST_CASE("the arrays of a layout can be told apart and read in every palette of a paper") {
        for (const PaperPalette& palette : paper_palettes) {
            CAPTURE(palette.name);
            std::vector<Colour> colours;
            for (const RoleColour& role : {value_colour, column_colour, structure_colour}) {
                colours.push_back(in_palette(role.colour, palette));
                CHECK(contrast(colours.back(), text_on(role.colour)) >= for_texts);
                CHECK((colours.back() == role.colour) == (palette.name == "default"));
                if (!palette.is_grey) continue;
                for (std::size_t i = 0; i + 1 < colours.size(); ++i) CHECK(contrast(colours[i], colours.back()) >= 1.9);
            }
        }
    }

    TEST_CASE("marks can be seen on white from the back row") {
        for (std::size_t i = 0; i < most_series; ++i) CHECK(contrast(series_colour(i), white) >= for_marks);
        for (const int plane : {0, 1}) {
            for (int shade = DensityScale::lightest; shade <= DensityScale::darkest; ++shade) {
                CHECK(contrast(plane_colour(plane, shade), white) >= for_marks);
            }
        }
        for (const ArrayRole role : {ArrayRole::value, ArrayRole::column, ArrayRole::structure}) {
            CHECK(contrast(filling_of(role).colour, white) >= for_marks);
        }
        CHECK(contrast(style::faint, white) >= for_marks);
        // The mean of row lengths lies on the longest.
        CHECK(contrast(plane_colour(0, DensityScale::middle), style::faint) >= 2);
    }

    TEST_CASE("texts can be read on white and on cells") {
        for (const Colour colour : {style::ink, style::muted, padding_colour}) CHECK(contrast(colour, white) >= for_texts);
        for (int grey = 0; grey <= 255; ++grey) {
            const auto level = static_cast<std::uint8_t>(grey);
            const Colour cell{level, level, level};
            CHECK(contrast(text_on(cell), cell) >= for_texts);
        }
    }

    TEST_CASE("colours have the hues that pages compute theirs from") {
        const auto near = [](int degrees) { return doctest::Approx(degrees).epsilon(2.0 / degrees); };
        for (const PaletteHue& hue : hues) CHECK(hue_of(hue.colour) == near(hue.degrees));
        for (const RoleColour& role : {value_colour, column_colour, structure_colour}) {
            CHECK(hue_of(role.colour) == near(hues.at(role.hue).degrees));
        }
        for (const int plane : {0, 1}) {
            CHECK(std::abs(hue_of(plane_colour(plane, DensityScale::lightest)) - hues.at(plane).degrees) < 6);
        }
        CHECK(palette_css() == ":root{--hues:252 62 148 320 222 30;--hue-value:252;--hue-column:148;--hue-structure:320}");
    }
}

TEST_CASE("of a hundred bins, the densest one does not determine the scale") {
    std::vector<Entry> entries{{0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
    for (Index row = 0; row < 20; row += 2) {
        for (Index column = 0; column < 20; column += 2) entries.push_back({row, column, 1});
    }
    const std::vector<PatternRaster> rasters{rasterise(stage_input(csr_from_entries(32, 32, entries)), 16)};
    REQUIRE(rasters[0].row_bins() == 16);
    REQUIRE(rasters[0].count(0, 0) == 4);
    CHECK(common_scale(rasters).ceiling == 1);
}

}  // namespace workbench
