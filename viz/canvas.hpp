// What pictures and charts are drawn on: pixels, SVG or PDF (pdf_canvas.hpp), with the same strokes.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/image.hpp"
#include "viz/text.hpp"

namespace workbench {

enum class Marker { circle, square, diamond, triangle };

/// One colour, or thin slanting lines of another one over it, which are seen without any colour, too.
struct Filling {
    Colour colour;
    std::optional<Colour> lines = {};
};

/// Of a marker of radius 1, right and down from its middle; none of a circle.
[[nodiscard]] std::vector<std::pair<double, double>> corners_of(Marker shape);

/// Places are in pixels from the upper left, whole or not.
class Canvas {
public:
    Canvas() = default;
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    virtual ~Canvas() = default;

    virtual void line(double x1, double y1, double x2, double y2, Colour colour, double width) = 0;
    /// opacity: 0 .. 1, of what lies beneath nothing shows through at 1.
    virtual void box(double x, double y, double width, double height, Colour colour, double opacity = 1) = 0;
    /// A picture stretched over the box. Its pixels keep sharp edges.
    virtual void picture(const Box& box, const Image& pixels) = 0;
    /// Many boxes of whole pixels at once.
    virtual void boxes(std::span<const Box> boxes, const Filling& filling) = 0;
    virtual void marker(Marker shape, double x, double y, double radius, Colour colour) = 0;
    /// Baseline at y.
    virtual void text(double x, double y, std::string_view text, const TextStyle& style) = 0;
};

/// Lines of this width along the inner edge of the box.
void outline(Canvas& canvas, const Box& box, double width, Colour colour, double opacity = 1);

/// Edges are smooth: sixteen points of each pixel are asked.
class RasterCanvas final : public Canvas {
public:
    RasterCanvas(int width, int height) : image_(blank_image(width, height)) {}
    void line(double x1, double y1, double x2, double y2, Colour colour, double width) override;
    void box(double x, double y, double width, double height, Colour colour, double opacity = 1) override;
    void picture(const Box& box, const Image& pixels) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void marker(Marker shape, double x, double y, double radius, Colour colour) override;
    void text(double x, double y, std::string_view text, const TextStyle& style) override;
    [[nodiscard]] const Image& image() const { return image_; }

private:
    Image image_;
};

class SvgCanvas final : public Canvas {
public:
    SvgCanvas(int width, int height);
    void line(double x1, double y1, double x2, double y2, Colour colour, double width) override;
    void box(double x, double y, double width, double height, Colour colour, double opacity = 1) override;
    void picture(const Box& box, const Image& pixels) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void marker(Marker shape, double x, double y, double radius, Colour colour) override;
    void text(double x, double y, std::string_view text, const TextStyle& style) override;
    /// The whole file.
    [[nodiscard]] std::string text() const { return text_ + "</svg>\n"; }

private:
    std::string text_;
    std::set<std::string> patterns_;  // fillings with lines that were used before
};

}  // namespace workbench
