#include "viz/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace workbench {
namespace {

// Of the lines of a filling, in pixels along a row.
constexpr int line_distance = 6;
constexpr int line_width = 2;

/// Lays the colour over all that `inside(x, y)` says yes to, within these bounds.
template <typename Inside>
void fill_shape(Image& image, double left, double top, double right, double bottom, Colour colour, const Inside& inside) {
    const int first_x = std::max(0, static_cast<int>(std::floor(left)));
    const int first_y = std::max(0, static_cast<int>(std::floor(top)));
    const int last_x = std::min(image.width - 1, static_cast<int>(std::ceil(right)));
    const int last_y = std::min(image.height - 1, static_cast<int>(std::ceil(bottom)));
    for (int y = first_y; y <= last_y; ++y) {
        for (int x = first_x; x <= last_x; ++x) {
            int covered = 0;
            for (int point = 0; point < 16; ++point) {
                const int row = point / 4;
                const int column = point % 4;
                covered += inside(x + (column + 0.5) / 4, y + (row + 0.5) / 4) ? 1 : 0;
            }
            if (covered > 0) fill(image, {x, y, 1, 1}, colour, covered * 16);
        }
    }
}

bool is_in(Marker shape, double x, double y, double radius) {
    switch (shape) {
        case Marker::circle: return x * x + y * y <= radius * radius;
        case Marker::square: return std::max(std::abs(x), std::abs(y)) <= 0.88 * radius;
        case Marker::diamond: return std::abs(x) + std::abs(y) <= 1.25 * radius;
        case Marker::triangle: return y <= 0.8 * radius && 2 * std::abs(x) <= y + 1.2 * radius;
    }
    return false;
}

std::string hex(Colour colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue); }

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '&') {
            safe += "&amp;";
        } else if (letter == '<') {
            safe += "&lt;";
        } else if (letter == '>') {
            safe += "&gt;";
        } else if (static_cast<unsigned char>(letter) >= ' ') {
            safe += letter;
        }
    }
    return safe;
}

}  // namespace

void RasterCanvas::line(double x1, double y1, double x2, double y2, Colour colour, double width) {
    const double half = width / 2;
    const double dx = x2 - x1;
    const double dy = y2 - y1;
    const double squared = dx * dx + dy * dy;
    fill_shape(image_, std::min(x1, x2) - half, std::min(y1, y2) - half, std::max(x1, x2) + half, std::max(y1, y2) + half,
               colour, [&](double x, double y) {
                   const double along = squared > 0 ? std::clamp(((x - x1) * dx + (y - y1) * dy) / squared, 0.0, 1.0) : 0;
                   const double off_x = x - x1 - along * dx;
                   const double off_y = y - y1 - along * dy;
                   return off_x * off_x + off_y * off_y <= half * half;
               });
}

void RasterCanvas::box(double x, double y, double width, double height, Colour colour) {
    fill_shape(image_, x, y, x + width, y + height, colour,
               [&](double at_x, double at_y) { return at_x >= x && at_x < x + width && at_y >= y && at_y < y + height; });
}

void RasterCanvas::boxes(std::span<const Box> boxes, const Filling& filling) {
    for (const Box& box : boxes) {
        fill(image_, box, filling.colour);
        if (!filling.lines) continue;
        for (int y = std::max(box.y, 0); y < std::min(box.bottom(), image_.height); ++y) {
            for (int x = std::max(box.x, 0); x < std::min(box.right(), image_.width); ++x) {
                if ((x + y) % line_distance < line_width) fill(image_, {x, y, 1, 1}, *filling.lines);
            }
        }
    }
}

void RasterCanvas::marker(Marker shape, double x, double y, double radius, Colour colour) {
    fill_shape(image_, x - 1.3 * radius, y - 1.3 * radius, x + 1.3 * radius, y + 1.3 * radius, colour,
               [&](double at_x, double at_y) { return is_in(shape, at_x - x, at_y - y, radius); });
}

void RasterCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    draw_text(image_, static_cast<int>(std::lround(x)), static_cast<int>(std::lround(y)), text, style);
}

SvgCanvas::SvgCanvas(int width, int height)
    : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                        "font-family=\"DejaVu Sans, sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                        width, height)) {}

void SvgCanvas::line(double x1, double y1, double x2, double y2, Colour colour, double width) {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
        "stroke-linecap=\"round\"/>\n",
        x1, y1, x2, y2, hex(colour), width);
}

void SvgCanvas::box(double x, double y, double width, double height, Colour colour) {
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, width,
                         height, hex(colour));
}

void SvgCanvas::boxes(std::span<const Box> boxes, const Filling& filling) {
    if (boxes.empty()) return;
    std::string paint = hex(filling.colour);
    if (filling.lines) {
        const std::string name = "lines" + hex(*filling.lines).substr(1) + hex(filling.colour).substr(1);
        if (patterns_.insert(name).second) {
            text_ += fmt::format(
                "<pattern id=\"{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\"><rect width=\"{1}\" "
                "height=\"{1}\" fill=\"{2}\"/><path d=\"M-1 1l2 -2M0 {1}L{1} 0M{3} {4}l2 -2\" stroke=\"{5}\" "
                "stroke-width=\"{6}\"/></pattern>\n",
                name, line_distance, hex(filling.colour), line_distance - 1, line_distance + 1, hex(*filling.lines),
                line_width * 0.7);
        }
        paint = "url(#" + name + ")";
    }
    text_ += fmt::format("<path fill=\"{}\" d=\"", paint);
    for (const Box& box : boxes) text_ += fmt::format("M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width);
    text_ += "\"/>\n";
}

void SvgCanvas::marker(Marker shape, double x, double y, double radius, Colour colour) {
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string points;
        for (const auto& [right, down] : corners) {
            points += fmt::format(" {:.1f},{:.1f}", x + right * radius, y + down * radius);
        }
        text_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points.substr(1), hex(colour));
    };
    switch (shape) {
        case Marker::circle:
            text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y, radius, hex(colour));
            break;
        case Marker::square: polygon({{-0.88, -0.88}, {0.88, -0.88}, {0.88, 0.88}, {-0.88, 0.88}}); break;
        case Marker::diamond: polygon({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}}); break;
        case Marker::triangle: polygon({{0, -1.2}, {1, 0.8}, {-1, 0.8}}); break;
    }
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    constexpr std::array anchors{"start", "middle", "end"};
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                         style.size, hex(style.colour), anchors.at(static_cast<std::size_t>(style.align)), escaped(text));
}

}  // namespace workbench
