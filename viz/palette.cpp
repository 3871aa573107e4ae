#include "viz/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace workbench {
namespace {

// The hues 252 and 62 of the palette in equal steps of OKLab lightness, from 0.53 to 0.27 and from 0.672 to 0.60, as 0xRRGGBB.
using Ramp = std::array<std::uint32_t, 9>;
constexpr Ramp blue{0x136dbf, 0x0063b4, 0x005aa5, 0x005196, 0x004887, 0x003f78, 0x00376b, 0x002e5d, 0x002650};
constexpr Ramp orange{0xd87c00, 0xd47a00, 0xd07700, 0xcc7500, 0xc87300, 0xc57000, 0xc16e00, 0xbd6c00, 0xb96a00};

Colour colour_of(std::uint32_t hex) {
    return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

double percentile_99(const PatternRaster& raster) {
    std::vector<double> densities;
    for (int row = 0; row < raster.row_bins(); ++row) {
        for (int column = 0; column < raster.column_bins(); ++column) {
            if (raster.count(row, column) > 0) densities.push_back(bin_density(raster, row, column));
        }
    }
    if (densities.empty()) return 0;
    const auto rank = densities.begin() + static_cast<std::ptrdiff_t>((densities.size() - 1) * 99 / 100);
    std::nth_element(densities.begin(), rank, densities.end());
    return *rank;
}

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

int DensityScale::shade(double density) const {
    if (ceiling <= 1) return middle;
    constexpr double ceiling_for_whole_ramp = 16;
    const double used = std::min(std::log(ceiling) / std::log(ceiling_for_whole_ramp), 1.0);
    const double first = middle - used * (middle - lightest);
    const double last = middle + used * (darkest - middle);
    const double share = std::log(std::clamp(density, 1.0, ceiling)) / std::log(ceiling);
    return static_cast<int>(std::lround(first + share * (last - first)));
}

double bin_density(const PatternRaster& raster, int row_bin, int column_bin) {
    const double rows = raster.row_edges[row_bin + 1] - raster.row_edges[row_bin];
    const double columns = raster.column_edges[column_bin + 1] - raster.column_edges[column_bin];
    const double average_rows = static_cast<double>(raster.rows) / raster.row_bins();
    const double average_columns = static_cast<double>(raster.columns) / raster.column_bins();
    const auto count = static_cast<double>(raster.count(row_bin, column_bin));
    return count * (average_rows / rows) * (average_columns / columns);
}

DensityScale common_scale(std::span<const PatternRaster> rasters) {
    DensityScale scale;
    for (const PatternRaster& raster : rasters) scale.ceiling = std::max(scale.ceiling, percentile_99(raster));
    return scale;
}

Colour plane_colour(int plane, int shade) {
    constexpr int steps = static_cast<int>(std::tuple_size_v<Ramp>) - 1;
    const int place = std::clamp(shade, DensityScale::lightest, DensityScale::darkest) * steps * 256 / DensityScale::darkest;
    const int step = std::min(place / 256, steps - 1);
    const Ramp& ramp = plane == 0 ? blue : orange;
    return mix(colour_of(ramp.at(step)), colour_of(ramp.at(step + 1)), place - step * 256);
}

Colour bin_colour(const PatternRaster& raster, const DensityScale& scale, int row_bin, int column_bin) {
    const Offset all = raster.count(row_bin, column_bin);
    if (all == 0) return white;
    const int shade = scale.shade(bin_density(raster, row_bin, column_bin));
    const double second = static_cast<double>(raster.count(1, row_bin, column_bin)) / static_cast<double>(all);
    return mix(plane_colour(0, shade), plane_colour(1, shade), static_cast<int>(std::lround(second * 256)));
}

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
