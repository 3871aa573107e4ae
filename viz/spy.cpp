#include "viz/spy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "viz/palette.hpp"
#include "viz/raster.hpp"

namespace workbench {
namespace {

/// The character as UTF-8.
std::string character(unsigned code) {
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
}

constexpr int dots_across = 2;
constexpr int dots_down = 4;

/// The bits of the dots of a Braille character in Unicode.
constexpr std::array<std::array<unsigned, dots_across>, dots_down> dot_bits{{{0, 3}, {1, 4}, {2, 5}, {6, 7}}};

/// Colours from thin to dense that are readable on a light and on a dark background.
std::string colour_code(TerminalColours colours, double share) {
    constexpr std::array<int, 5> many{67, 73, 107, 172, 167};
    constexpr std::array<int, 5> few{34, 36, 32, 33, 31};
    const auto level = std::min<std::size_t>(static_cast<std::size_t>(share * 5), 4);
    if (colours == TerminalColours::many) return fmt::format("\x1b[38;5;{}m", many.at(level));
    return fmt::format("\x1b[{}m", few.at(level));
}

struct Cell {
    std::string text;
    double share = 0;  // the density, 0 .. 1
    bool empty = true;
};

/// One character, with a dot for each nonempty bin.
Cell cell_of(const PatternRaster& raster, const DensityScale& scale, int line, int column, bool unicode) {
    unsigned bits = 0;
    int dots = 0;
    double densest = 0;
    for (int y = 0; y < dots_down; ++y) {
        for (int x = 0; x < dots_across; ++x) {
            const int row_bin = line * dots_down + y;
            const int column_bin = column * dots_across + x;
            if (row_bin >= raster.row_bins() || column_bin >= raster.column_bins()) continue;
            if (raster.count(row_bin, column_bin) == 0) continue;
            bits |= 1U << dot_bits.at(y).at(x);
            ++dots;
            densest = std::max(densest, bin_density(raster, row_bin, column_bin));
        }
    }
    constexpr std::string_view letters = " .:-=+*#@";
    if (dots == 0) return {" "};
    const double share = scale.ceiling > 1 ? std::log(std::clamp(densest, 1.0, scale.ceiling)) / std::log(scale.ceiling) : 0;
    return {unicode ? character(0x2800 + bits) : std::string(1, letters[dots]), share, false};
}

class Frame {
public:
    Frame(int width, const SpyStyle& style) : width_(width), style_(style) {}

    [[nodiscard]] std::string top() const { return style_.unicode ? edge("┌", "─", "┐") : edge("+", "-", "+"); }
    [[nodiscard]] std::string bottom() const { return style_.unicode ? edge("└", "─", "┘") : edge("+", "-", "+"); }

    template <typename CellAt>
    [[nodiscard]] std::string line(const CellAt& cell_at) const {
        const std::string side = style_.unicode ? "│" : "|";
        std::string text = side;
        std::string colour;
        for (int column = 0; column < width_; ++column) {
            const Cell cell = cell_at(column);
            if (style_.colours != TerminalColours::none && !cell.empty) {
                const std::string wanted = colour_code(style_.colours, cell.share);
                if (wanted != colour) text += wanted;
                colour = wanted;
            }
            text += cell.text;
        }
        return text + (colour.empty() ? "" : "\x1b[0m") + side + "\n";
    }

private:
    [[nodiscard]] std::string edge(std::string_view left, std::string_view middle, std::string_view right) const {
        std::string text(left);
        for (int i = 0; i < width_; ++i) text += middle;
        return text + std::string(right) + "\n";
    }

    int width_;
    const SpyStyle& style_;
};

/// Two characters an entry, so that entries are about square.
std::string small_text(const PatternRaster& raster, const SpyStyle& style) {
    const Frame frame(2 * raster.column_bins() + 1, style);
    std::string text = frame.top();
    for (int row = 0; row < raster.row_bins(); ++row) {
        text += frame.line([&](int column) -> Cell {
            if (column % 2 == 0) return {" "};
            if (raster.count(row, column / 2) == 0) return {style.unicode ? "·" : "."};
            return {style.unicode ? "●" : "#", 0, false};
        });
    }
    return text + frame.bottom();
}

}  // namespace

std::string spy_text(const StagedMatrix& staged, const SpyStyle& style) {
    if (style.columns < 10 || style.lines < 6) throw std::invalid_argument("spy needs at least 10 columns and 6 lines");
    const Index rows = staged.matrix.rows;
    const Index columns = staged.matrix.columns;
    const int width = style.columns - 2;
    const int height = style.lines - 2;
    if (rows <= height && columns <= (width - 1) / 2) return small_text(rasterise(staged), style);

    // The most bins along the longer axis that fit.
    const double longer = std::max(rows, columns);
    const double fitting = std::min(width * dots_across / (columns / longer), height * dots_down / (rows / longer));
    PatternRaster raster = rasterise(staged, std::max(16, static_cast<int>(std::min(fitting, 4000.0))));
    const DensityScale scale = common_scale({&raster, 1});
    const Frame frame(std::max(1, (raster.column_bins() + dots_across - 1) / dots_across), style);
    std::string text = frame.top();
    for (int line = 0; line * dots_down < raster.row_bins(); ++line) {
        text += frame.line([&](int column) { return cell_of(raster, scale, line, column, style.unicode); });
    }
    text += frame.bottom();
    const auto size = [](Index length, int bins) {
        return fmt::format("{:.4g}", static_cast<double>(length) / std::max(bins, 1));
    };
    const auto count = [&size](Index length, int bins, const char* what) {
        const std::string number = size(length, bins);
        return fmt::format("{} {}{}", number, what, number == "1" ? "" : "s");
    };
    return text + fmt::format("a dot: {} x {} with a nonzero\n", count(rows, raster.row_bins(), "row"),
                              count(columns, raster.column_bins(), "column"));
}

}  // namespace workbench
