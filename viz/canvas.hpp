// The surfaces that pictures and charts are drawn on: pixels, SVG or PDF (pdf_canvas.hpp).
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/interface.hpp"
#include "viz/image.hpp"
#include "viz/text.hpp"

namespace workbench {

enum class Marker { circle, square, diamond, triangle };

/// A colour, optionally with thin slanting lines that can be distinguished without colour.
struct Filling {
    Colour colour;
    std::optional<Colour> lines = {};
};

/// The slanting lines of a filling, in pixels.
inline constexpr int filling_line_distance = 6;
inline constexpr double filling_line_width = 1.4;

/// The corners of a marker of radius 1 around the origin; none for a circle.
[[nodiscard]] std::vector<Point> corners_of(Marker shape);

/// A box whose sides need not be whole pixels.
struct Rectangle {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;

    Rectangle(double left, double top, double wide, double high) : x(left), y(top), width(wide), height(high) {}
    Rectangle(const Box& box) : x(box.x), y(box.y), width(box.width), height(box.height) {}
};

/// Coordinates are in pixels from the upper left corner.
class Canvas : public Interface {
public:
    virtual void line(Point from, Point to, Colour colour, double width) = 0;
    /// opacity: 0 .. 1.
    virtual void box(const Rectangle& box, Colour colour, double opacity = 1) = 0;
    /// Stretches the image over the box without smoothing.
    virtual void picture(const Box& box, const Image& pixels) = 0;
    virtual void boxes(std::span<const Box> boxes, const Filling& filling) = 0;
    virtual void marker(Marker shape, Point centre, double radius, Colour colour) = 0;
    /// Draws a line of text with its baseline at y, after fitting it to style.most_width.
    void text(double x, double y, std::string_view text, const TextStyle& style);

protected:
    virtual void draw_text(Point at, std::string_view text, const TextStyle& style) = 0;
};

/// Lines of this width along the inner edge of the box.
void outline(Canvas& canvas, const Box& box, double width, Colour colour, double opacity = 1);

/// Edges are smoothed with sixteen samples a pixel.
class RasterCanvas final : public Canvas {
public:
    RasterCanvas(int width, int height) : image_(blank_image(width, height)) {}
    void line(Point from, Point to, Colour colour, double width) override;
    void box(const Rectangle& box, Colour colour, double opacity = 1) override;
    void picture(const Box& box, const Image& pixels) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void marker(Marker shape, Point centre, double radius, Colour colour) override;
    [[nodiscard]] const Image& image() const { return image_; }

private:
    void draw_text(Point at, std::string_view text, const TextStyle& style) override;

    Image image_;
};

class SvgCanvas final : public Canvas {
public:
    SvgCanvas(int width, int height);
    void line(Point from, Point to, Colour colour, double width) override;
    void box(const Rectangle& box, Colour colour, double opacity = 1) override;
    void picture(const Box& box, const Image& pixels) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void marker(Marker shape, Point centre, double radius, Colour colour) override;
    /// The whole file. Its title is the text that was drawn first.
    [[nodiscard]] std::string bytes() const { return head_ + title_ + bytes_ + "</svg>\n"; }

private:
    void draw_text(Point at, std::string_view text, const TextStyle& style) override;

    std::string head_;   // the element that contains all others
    std::string title_;  // an element, or empty
    std::string bytes_;
    std::set<std::string> patterns_;  // definitions of fillings with lines that are already in the file
};

struct PictureSize {
    int width = 0;
    int height = 0;
};

/// A picture or chart is any type with size_of(picture) and draw(canvas, picture).
template <typename Picture>
[[nodiscard]] Image image_of(const Picture& picture) {
    const PictureSize size = size_of(picture);
    RasterCanvas canvas(size.width, size.height);
    draw(canvas, picture);
    return canvas.image();
}

/// Like image_of, as a file: SVG, or PDF with PdfCanvas. more: further arguments of the canvas.
template <typename FileCanvas, typename Picture>
[[nodiscard]] std::string file_of(const Picture& picture, const auto&... more) {
    const PictureSize size = size_of(picture);
    FileCanvas canvas(size.width, size.height, more...);
    draw(canvas, picture);
    return canvas.bytes();
}

template <typename Picture>
[[nodiscard]] std::string svg_of(const Picture& picture) {
    return file_of<SvgCanvas>(picture);
}

}  // namespace workbench
