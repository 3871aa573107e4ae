#include "viz/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "viz/png.hpp"

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

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U; };
        const unsigned bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? letters[bits >> (18 - 6 * k) & 63] : '=';
    }
    return text;
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

std::vector<std::pair<double, double>> corners_of(Marker shape) {
    switch (shape) {
        case Marker::circle: return {};
        case Marker::square: return {{-0.88, -0.88}, {0.88, -0.88}, {0.88, 0.88}, {-0.88, 0.88}};
        case Marker::diamond: return {{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}};
        case Marker::triangle: return {{0, -1.2}, {1, 0.8}, {-1, 0.8}};
    }
    return {};
}

void outline(Canvas& canvas, const Box& box, double width, Colour colour, double opacity) {
    canvas.box(box.x, box.y, box.width, width, colour, opacity);
    canvas.box(box.x, box.bottom() - width, box.width, width, colour, opacity);
    canvas.box(box.x, box.y + width, width, box.height - 2 * width, colour, opacity);
    canvas.box(box.right() - width, box.y + width, width, box.height - 2 * width, colour, opacity);
}

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

void RasterCanvas::box(double x, double y, double width, double height, Colour colour, double opacity) {
    const Box whole{static_cast<int>(x), static_cast<int>(y), static_cast<int>(width), static_cast<int>(height)};
    if (opacity < 1 || (whole.x == x && whole.y == y && whole.width == width && whole.height == height)) {
        fill(image_, whole, colour, static_cast<int>(std::lround(opacity * opaque)));
        return;
    }
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

void RasterCanvas::picture(const Box& box, const Image& pixels) {
    const auto start = [](std::int64_t cell, int cells, int along) { return static_cast<int>(cell * along / cells); };
    for (int row = 0; row < pixels.height; ++row) {
        const int top = start(row, pixels.height, box.height);
        const int height = start(row + 1, pixels.height, box.height) - top;
        for (int column = 0; column < pixels.width; ++column) {
            const int left = start(column, pixels.width, box.width);
            const int width = start(column + 1, pixels.width, box.width) - left;
            fill(image_, {box.x + left, box.y + top, width, height}, pixels.at(column, row));
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

void SvgCanvas::box(double x, double y, double width, double height, Colour colour, double opacity) {
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n", x, y, width,
                         height, hex(colour), opacity < 1 ? fmt::format(" fill-opacity=\"{:.2f}\"", opacity) : "");
}

void SvgCanvas::picture(const Box& box, const Image& pixels) {
    text_ += fmt::format(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        box.x, box.y, box.width, box.height, base64(png_bytes(pixels)));
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
    if (shape == Marker::circle) {
        text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y, radius, hex(colour));
        return;
    }
    std::string points;
    for (const auto& [right, down] : corners_of(shape)) {
        points += fmt::format(" {:.1f},{:.1f}", x + right * radius, y + down * radius);
    }
    text_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points.substr(1), hex(colour));
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    constexpr std::array anchors{"start", "middle", "end"};
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                         style.size, hex(style.colour), anchors.at(static_cast<std::size_t>(style.align)), escaped(text));
}

}  // namespace workbench
