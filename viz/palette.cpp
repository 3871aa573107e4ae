#include "viz/palette.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace workbench {
namespace {

double luminance(Colour colour) {
    const auto linear = [](int channel) {
        const double share = channel / 255.0;
        return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

constexpr std::array roles{value_colour, column_colour, structure_colour};
constexpr std::array<std::uint8_t, roles.size()> greys_of_roles{70, 145, 205};  // texts on them can be read

}  // namespace

double contrast(Colour a, Colour b) {
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

const PaperPalette& paper_palette(std::string_view name) {
    const auto found = std::ranges::find(paper_palettes, name, &PaperPalette::name);
    if (found == paper_palettes.end()) throw std::invalid_argument(fmt::format("there is no palette \"{}\"", name));
    return *found;
}

Colour in_palette(Colour colour, const PaperPalette& palette) {
    for (std::size_t i = 0; i < hues.size(); ++i) {
        if (hues.at(i).colour == colour) return palette.colours.at(i);
    }
    for (std::size_t i = 0; i < roles.size() && palette.name != paper_palettes.front().name; ++i) {
        const std::uint8_t grey = greys_of_roles.at(i);
        if (roles.at(i).colour == colour)
            return palette.is_grey ? Colour{grey, grey, grey} : palette.colours.at(roles.at(i).hue);
    }
    if (!palette.is_grey) return colour;
    const double light = luminance(colour);
    const double share = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
    const auto grey = static_cast<std::uint8_t>(std::lround(255 * share));
    return {grey, grey, grey};
}

Colour text_on(Colour background) {
    constexpr Colour black{};
    return contrast(background, white) > contrast(background, black) ? white : black;
}

std::string palette_css() {
    std::string degrees;
    for (const PaletteHue& hue : hues) degrees += fmt::format("{}{}", degrees.empty() ? "" : " ", hue.degrees);
    const auto of = [](const RoleColour& role) { return hues.at(role.hue).degrees; };
    return fmt::format(":root{{--hues:{};--hue-value:{};--hue-column:{};--hue-structure:{}}}", degrees, of(value_colour),
                       of(column_colour), of(structure_colour));
}

}  // namespace workbench
