#include "viz/palette.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

double contrast(Colour a, Colour b) {
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
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
