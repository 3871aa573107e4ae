#include "viz/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "viz/encode.hpp"
#include "viz/image.hpp"

namespace workbench {
namespace {

/// Fills all points within `bounds` for which `inside(x, y)` is true.
template <typename Inside>
void fill_shape(Image& image, const Rectangle& bounds, Colour colour, const Inside& inside) {
    const int first_x = std::max(0, static_cast<int>(std::floor(bounds.x)));
    const int first_y = std::max(0, static_cast<int>(std::floor(bounds.y)));
    const int last_x = std::min(image.width - 1, static_cast<int>(std::ceil(bounds.x + bounds.width)));
    const int last_y = std::min(image.height - 1, static_cast<int>(std::ceil(bounds.y + bounds.height)));
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

bool contains(Marker shape, double x, double y, double radius) {
    switch (shape) {
        case Marker::circle: return x * x + y * y <= radius * radius;
        case Marker::square: return std::max(std::abs(x), std::abs(y)) <= 0.88 * radius;
        case Marker::diamond: return std::abs(x) + std::abs(y) <= 1.25 * radius;
        case Marker::triangle: return y <= 0.8 * radius && 2 * std::abs(x) <= y + 1.2 * radius;
    }
    return false;
}

std::string hex(Colour colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue); }

}  // namespace

std::vector<Point> corners_of(Marker shape) {
    switch (shape) {
        case Marker::circle: return {};
        case Marker::square: return {{-0.88, -0.88}, {0.88, -0.88}, {0.88, 0.88}, {-0.88, 0.88}};
        case Marker::diamond: return {{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}};
        case Marker::triangle: return {{0, -1.2}, {1, 0.8}, {-1, 0.8}};
    }
    return {};
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    if (style.most_width == TextStyle::unlimited) return draw_text({x, y}, text, style);
    TextStyle fitting = style;
    if (style.least_size > 0) fitting.size = fitting_size(text, style.size, style.least_size, style.most_width);
    draw_text({x, y}, shortened(text, fitting.size, style.most_width), fitting);
}

void outline(Canvas& canvas, const Box& box, double width, Colour colour, double opacity) {
    const Rectangle all = box;
    const double height = all.height - 2 * width;
    canvas.box({all.x, all.y, all.width, width}, colour, opacity);
    canvas.box({all.x, all.y + all.height - width, all.width, width}, colour, opacity);
    canvas.box({all.x, all.y + width, width, height}, colour, opacity);
    canvas.box({all.x + all.width - width, all.y + width, width, height}, colour, opacity);
}

void RasterCanvas::line(Point from, Point to, Colour colour, double width) {
    const double half = width / 2;
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const double squared = dx * dx + dy * dy;
    const Rectangle bounds{std::min(from.x, to.x) - half, std::min(from.y, to.y) - half, std::abs(dx) + width,
                           std::abs(dy) + width};
    fill_shape(image_, bounds, colour, [&](double x, double y) {
        const double along = squared > 0 ? std::clamp(((x - from.x) * dx + (y - from.y) * dy) / squared, 0.0, 1.0) : 0;
        const double off_x = x - from.x - along * dx;
        const double off_y = y - from.y - along * dy;
        return off_x * off_x + off_y * off_y <= half * half;
    });
}

void RasterCanvas::box(const Rectangle& box, Colour colour, double opacity) {
    const auto [x, y, width, height] = box;
    const Box whole{static_cast<int>(x), static_cast<int>(y), static_cast<int>(width), static_cast<int>(height)};
    if (opacity < 1 || (whole.x == x && whole.y == y && whole.width == width && whole.height == height)) {
        return fill(image_, whole, colour, static_cast<int>(std::lround(opacity * opaque)));
    }
    fill_shape(image_, box, colour, [&](double at_x, double at_y) {
        return at_x >= box.x && at_x < box.x + box.width && at_y >= box.y && at_y < box.y + box.height;
    });
}

void RasterCanvas::boxes(std::span<const Box> boxes, const Filling& filling) {
    for (const Box& box : boxes) {
        fill(image_, box, filling.colour);
        if (!filling.lines) continue;
        for (int y = std::max(box.y, 0); y < std::min(box.bottom(), image_.height); ++y) {
            for (int x = std::max(box.x, 0); x < std::min(box.right(), image_.width); ++x) {
                if ((x + y) % filling_line_distance < 2) fill(image_, {x, y, 1, 1}, *filling.lines);
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

void RasterCanvas::marker(Marker shape, Point centre, double radius, Colour colour) {
    const double reach = 1.3 * radius;
    fill_shape(image_, {centre.x - reach, centre.y - reach, 2 * reach, 2 * reach}, colour,
               [&](double x, double y) { return contains(shape, x - centre.x, y - centre.y, radius); });
}

void RasterCanvas::draw_text(Point at, std::string_view text, const TextStyle& style) {
    workbench::draw_text(image_, static_cast<int>(std::lround(at.x)), static_cast<int>(std::lround(at.y)), text, style);
}

SvgCanvas::SvgCanvas(int width, int height)
    : head_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                        "font-family=\"DejaVu Sans, sans-serif\" role=\"img\">\n",
                        width, height)),
      bytes_(fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, height)) {}

void SvgCanvas::line(Point from, Point to, Colour colour, double width) {
    bytes_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
        "stroke-linecap=\"round\"/>\n",
        from.x, from.y, to.x, to.y, hex(colour), width);
}

void SvgCanvas::box(const Rectangle& box, Colour colour, double opacity) {
    bytes_ +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n", box.x, box.y,
                    box.width, box.height, hex(colour), opacity < 1 ? fmt::format(" fill-opacity=\"{:.2f}\"", opacity) : "");
}

void SvgCanvas::picture(const Box& box, const Image& pixels) {
    bytes_ += fmt::format(
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
            bytes_ += fmt::format(
                "<pattern id=\"{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\"><rect width=\"{1}\" "
                "height=\"{1}\" fill=\"{2}\"/><path d=\"M-1 1l2 -2M0 {1}L{1} 0M{3} {4}l2 -2\" stroke=\"{5}\" "
                "stroke-width=\"{6}\"/></pattern>\n",
                name, filling_line_distance, hex(filling.colour), filling_line_distance - 1, filling_line_distance + 1,
                hex(*filling.lines), filling_line_width);
        }
        paint = "url(#" + name + ")";
    }
    bytes_ += fmt::format("<path fill=\"{}\" d=\"", paint);
    for (const Box& box : boxes) bytes_ += fmt::format("M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width);
    bytes_ += "\"/>\n";
}

void SvgCanvas::marker(Marker shape, Point centre, double radius, Colour colour) {
    if (shape == Marker::circle) {
        bytes_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", centre.x, centre.y, radius,
                              hex(colour));
        return;
    }
    std::string points;
    for (const Point& corner : corners_of(shape)) {
        points += fmt::format(" {:.1f},{:.1f}", centre.x + corner.x * radius, centre.y + corner.y * radius);
    }
    bytes_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points.substr(1), hex(colour));
}

void SvgCanvas::draw_text(Point at, std::string_view text, const TextStyle& style) {
    constexpr std::array anchors{"start", "middle", "end"};
    if (title_.empty()) title_ = fmt::format("<title>{}</title>\n", escaped(text));
    bytes_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y,
                    style.size, hex(style.colour), anchors.at(static_cast<std::size_t>(style.align)), escaped(text));
}

}  // namespace workbench
