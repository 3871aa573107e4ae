// A page of PDF, written with libharu. Its text can be selected: the file contains the letters of DejaVu Sans that it uses.
// Text with letters that its font does not have is drawn as outlines.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "viz/canvas.hpp"
#include "viz/palette.hpp"

namespace workbench {

/// How a PDF shows pixels and letters.
struct PdfStyle {
    double points = 0.75;   // of a pixel: four pixels are three points, as in browsers
    std::string font = {};  // a file of TrueType or Type 1 (.pfb); empty: DejaVu Sans
    PaperPalette palette = paper_palettes.front();
};

/// The column of a paper for which pictures are drawn, as PDF.
struct PaperColumn {
    static constexpr double points_of_pixel = 0.5;  // the smallest text, of 15 pixels, is then 7.5 points high

    double inches = 0;      // 0: none
    std::string font = {};  // a file of TrueType or Type 1 (.pfb); empty: DejaVu Sans
    std::string palette{paper_palettes.front().name};

    [[nodiscard]] int pixels() const { return static_cast<int>(std::lround(inches * 72 / points_of_pixel)); }
    [[nodiscard]] PdfStyle style() const { return {points_of_pixel, font, paper_palette(palette)}; }
};

/// Throws MachineError if memory runs out, and RecipeError if the font cannot be read.
class PdfCanvas final : public Canvas {
public:
    PdfCanvas(int width, int height, const PdfStyle& style = {});
    PdfCanvas(const PdfCanvas&) = delete;
    PdfCanvas& operator=(const PdfCanvas&) = delete;
    ~PdfCanvas() override;
    void line(Point from, Point to, Colour colour, double width) override;
    void box(const Rectangle& box, Colour colour, double opacity = 1) override;
    void boxes(std::span<const Box> boxes, const Filling& filling) override;
    void picture(const Box& box, const Image& pixels) override;
    void marker(Marker shape, Point centre, double radius, Colour colour) override;
    /// The whole file, without a time stamp: the same drawing gives the same bytes.
    [[nodiscard]] std::string bytes() const;

private:
    void draw_text(Point at, std::string_view text, const TextStyle& style) override;
    void draw_outline(Point at, std::string_view text, const TextStyle& style);

    struct Document;
    std::unique_ptr<Document> document_;
};

}  // namespace workbench
