#include "viz/pdf_canvas.hpp"

#include <fmt/format.h>
#include <hpdf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// libharu is written in C: an exception must not pass through it. Once it has failed it does nothing more, and bytes() tells.
void note_failure(HPDF_STATUS, HPDF_STATUS, void*) {}

HPDF_REAL real(double value) { return static_cast<HPDF_REAL>(value); }

}  // namespace

struct PdfCanvas::Document {
    HPDF_Doc file = nullptr;
    HPDF_Page page = nullptr;
    double height = 0;
    std::map<double, HPDF_ExtGState> opacities = {};

    [[nodiscard]] HPDF_REAL up(double y) const { return real(height - y); }  // PDF counts from below

    void fill_with(Colour colour) const {
        HPDF_Page_SetRGBFill(page, real(colour.red / 255.0), real(colour.green / 255.0), real(colour.blue / 255.0));
    }
};

PdfCanvas::PdfCanvas(int width, int height) : document_(std::make_unique<Document>()) {
    constexpr double points = 0.75;
    document_->file = HPDF_New(note_failure, nullptr);
    if (document_->file == nullptr) throw MachineError("a PDF could not be begun: out of memory");
    document_->height = height;
    HPDF_SetCompressionMode(document_->file, HPDF_COMP_ALL);
    document_->page = HPDF_AddPage(document_->file);
    HPDF_Page_SetWidth(document_->page, real(width * points));
    HPDF_Page_SetHeight(document_->page, real(height * points));
    HPDF_Page_Concat(document_->page, points, 0, 0, points, 0, 0);
}

PdfCanvas::~PdfCanvas() { HPDF_Free(document_->file); }

void PdfCanvas::line(double x1, double y1, double x2, double y2, Colour colour, double width) {
    const HPDF_Page page = document_->page;
    HPDF_Page_SetRGBStroke(page, real(colour.red / 255.0), real(colour.green / 255.0), real(colour.blue / 255.0));
    HPDF_Page_SetLineCap(page, HPDF_ROUND_END);
    HPDF_Page_SetLineWidth(page, real(width));
    HPDF_Page_MoveTo(page, real(x1), document_->up(y1));
    HPDF_Page_LineTo(page, real(x2), document_->up(y2));
    HPDF_Page_Stroke(page);
}

void PdfCanvas::box(double x, double y, double width, double height, Colour colour, double opacity) {
    if (width <= 0 || height <= 0) return;
    const HPDF_Page page = document_->page;
    if (opacity < 1) {
        HPDF_ExtGState& state = document_->opacities[opacity];
        if (state == nullptr) {
            state = HPDF_CreateExtGState(document_->file);
            HPDF_ExtGState_SetAlphaFill(state, real(opacity));
        }
        HPDF_Page_GSave(page);
        HPDF_Page_SetExtGState(page, state);
    }
    document_->fill_with(colour);
    HPDF_Page_Rectangle(page, real(x), document_->up(y + height), real(width), real(height));
    HPDF_Page_Fill(page);
    if (opacity < 1) HPDF_Page_GRestore(page);
}

void PdfCanvas::boxes(std::span<const Box> boxes, const Filling& filling) {
    constexpr int line_distance = 6;
    constexpr double line_width = 1.4;
    const HPDF_Page page = document_->page;
    for (const Box& each : boxes) {
        box(each.x, each.y, each.width, each.height, filling.colour);
        if (!filling.lines || each.width <= 0 || each.height <= 0) continue;
        HPDF_Page_GSave(page);
        HPDF_Page_Rectangle(page, real(each.x), document_->up(each.bottom()), real(each.width), real(each.height));
        HPDF_Page_Clip(page);
        HPDF_Page_EndPath(page);
        // Where x + y is a multiple of the distance, as on the other canvases.
        const int first = (each.x + each.y + line_distance - 1) / line_distance * line_distance;
        for (int sum = first; sum <= each.right() + each.bottom(); sum += line_distance) {
            line(sum - each.y, each.y, sum - each.bottom(), each.bottom(), *filling.lines, line_width);
        }
        HPDF_Page_GRestore(page);
    }
}

void PdfCanvas::picture(const Box& box, const Image& pixels) {
    const HPDF_Image image =
        HPDF_LoadRawImageFromMem(document_->file, pixels.pixels.data(), static_cast<HPDF_UINT>(pixels.width),
                                 static_cast<HPDF_UINT>(pixels.height), HPDF_CS_DEVICE_RGB, 8);
    if (image == nullptr) return;
    HPDF_Page_DrawImage(document_->page, image, real(box.x), document_->up(box.bottom()), real(box.width), real(box.height));
}

void PdfCanvas::marker(Marker shape, double x, double y, double radius, Colour colour) {
    const HPDF_Page page = document_->page;
    document_->fill_with(colour);
    if (shape == Marker::circle) {
        HPDF_Page_Circle(page, real(x), document_->up(y), real(radius));
        HPDF_Page_Fill(page);
        return;
    }
    for (std::size_t i = 0; const auto& [right, down] : corners_of(shape)) {
        const HPDF_REAL to_x = real(x + right * radius);
        const HPDF_REAL to_y = document_->up(y + down * radius);
        i++ == 0 ? HPDF_Page_MoveTo(page, to_x, to_y) : HPDF_Page_LineTo(page, to_x, to_y);
    }
    HPDF_Page_Fill(page);
}

void PdfCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    const std::vector<OutlinePart> parts = text_outline(x, y, text, style);
    if (parts.empty()) return;
    const HPDF_Page page = document_->page;
    const auto point = [&](OutlinePart::Point place) { return std::pair(real(place.x), document_->up(place.y)); };
    document_->fill_with(style.colour);
    for (const OutlinePart& part : parts) {
        const auto [x3, y3] = point(part.end);
        if (part.kind == OutlinePart::Kind::move) HPDF_Page_MoveTo(page, x3, y3);
        if (part.kind == OutlinePart::Kind::line) HPDF_Page_LineTo(page, x3, y3);
        if (part.kind != OutlinePart::Kind::curve) continue;
        const auto [x1, y1] = point(part.first);
        const auto [x2, y2] = point(part.second);
        HPDF_Page_CurveTo(page, x1, y1, x2, y2, x3, y3);
    }
    HPDF_Page_Fill(page);
}

std::string PdfCanvas::bytes() const {
    HPDF_SaveToStream(document_->file);
    if (const HPDF_STATUS status = HPDF_GetError(document_->file); status != HPDF_OK) {
        throw MachineError(fmt::format("a PDF could not be drawn: libharu's error 0x{:04X}", status));
    }
    HPDF_UINT32 size = HPDF_GetStreamSize(document_->file);
    std::string bytes(size, '\0');
    HPDF_ReadFromStream(document_->file, reinterpret_cast<HPDF_BYTE*>(bytes.data()), &size);
    return bytes;
}

}  // namespace workbench
