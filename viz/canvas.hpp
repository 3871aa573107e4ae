// What charts are drawn on: pixels or SVG, with the same strokes.
#pragma once

#include <string>
#include <string_view>

#include "viz/image.hpp"
#include "viz/text.hpp"

namespace workbench {

enum class Marker { circle, square, diamond, triangle };

/// Places are in pixels from the upper left, whole or not.
class Canvas {
public:
    Canvas() = default;
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    virtual ~Canvas() = default;

    virtual void line(double x1, double y1, double x2, double y2, Colour colour, double width) = 0;
    virtual void box(double x, double y, double width, double height, Colour colour) = 0;
    virtual void marker(Marker shape, double x, double y, double radius, Colour colour) = 0;
    /// Baseline at y.
    virtual void text(double x, double y, std::string_view text, const TextStyle& style) = 0;
};

/// Edges are smooth: sixteen points of each pixel are asked.
class RasterCanvas final : public Canvas {
public:
    RasterCanvas(int width, int height) : image_(blank_image(width, height)) {}
    void line(double x1, double y1, double x2, double y2, Colour colour, double width) override;
    void box(double x, double y, double width, double height, Colour colour) override;
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
    void box(double x, double y, double width, double height, Colour colour) override;
    void marker(Marker shape, double x, double y, double radius, Colour colour) override;
    void text(double x, double y, std::string_view text, const TextStyle& style) override;
    /// The whole file.
    [[nodiscard]] std::string text() const { return text_ + "</svg>\n"; }

private:
    std::string text_;
};

}  // namespace workbench
