// A page of PDF to draw on, through libharu. Letters are outlines: the file needs no font, and looks the same everywhere.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "viz/canvas.hpp"

namespace workbench {

/// Four pixels are three points, as in browsers. Throws MachineError where memory runs out.
class PdfCanvas final : public Canvas {
public:
    PdfCanvas(int width, int height);
    ~PdfCanvas() override;
    void line(double x1, double y1, double x2, double y2, Colour colour, double width) override;
    void box(double x, double y, double width, double height, Colour colour, double opacity = 1) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void picture(const Box& box, const Image& pixels) override;
    void marker(Marker shape, double x, double y, double radius, Colour colour) override;
    void text(double x, double y, std::string_view text, const TextStyle& style) override;
    /// The whole file: always the same for the same strokes, without a time stamp.
    [[nodiscard]] std::string bytes() const;

private:
    struct Document;
    std::unique_ptr<Document> document_;
};

}  // namespace workbench
