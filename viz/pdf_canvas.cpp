#include "viz/pdf_canvas.hpp"

#include <fmt/format.h>
#include <hpdf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

/// An exception must not pass through libharu, which is written in C. After an error it ignores all calls; bytes() reports it.
void note_failure(HPDF_STATUS, HPDF_STATUS, void*) {}

HPDF_REAL real(double value) { return static_cast<HPDF_REAL>(value); }

/// Loads DejaVu Sans, which libharu reads from files only, from a file in memory. Returns its name in the document; null if the
/// system has no such files.
const char* load_main_font(HPDF_Doc document) {
    const int file = memfd_create("font", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    const std::string_view font = main_font();
    const bool is_whole = write(file, font.data(), font.size()) == static_cast<ssize_t>(font.size());
    const std::string path = fmt::format("/proc/self/fd/{}", file);
    const char* const name =
        is_whole && access(path.c_str(), R_OK) == 0 ? HPDF_LoadTTFontFromFile(document, path.c_str(), HPDF_TRUE) : nullptr;
    close(file);  // libharu has opened it again
    return name;
}

bool is_type1(const std::filesystem::path& font) { return font.extension() == ".pfb" || font.extension() == ".pfa"; }

/// The metrics of a font of Type 1: beside it, or where TeX keeps them.
std::filesystem::path metrics_of(std::filesystem::path font) {
    const std::filesystem::path beside = font.replace_extension(".afm");
    if (std::filesystem::exists(beside)) return beside;
    std::filesystem::path in_tree;
    for (const std::filesystem::path& part : beside) in_tree /= part == "type1" ? "afm" : part;
    if (std::filesystem::exists(in_tree)) return in_tree;
    throw RecipeError(fmt::format("--font: expected the metrics of this font of Type 1 in {}{}", beside.string(),
                                  in_tree == beside ? "" : " or " + in_tree.string()));
}

/// Returns the name of the font in the document; null if libharu cannot read it.
const char* load_font(HPDF_Doc document, const std::string& font) {
    return is_type1(font) ? HPDF_LoadType1FontFromFile(document, metrics_of(font).c_str(), font.c_str())
                          : HPDF_LoadTTFontFromFile(document, font.c_str(), HPDF_TRUE);
}

/// The text in Latin-1, if it has no other characters.
std::optional<std::string> in_latin(const std::u32string& text) {
    std::string bytes;
    for (const char32_t character : text) {
        const bool is_latin = (character >= 0x20 && character < 0x7F) || (character >= 0xA0 && character <= 0xFF);
        if (!is_latin) return std::nullopt;
        bytes += static_cast<char>(character);
    }
    return bytes;
}

}  // namespace

struct PdfCanvas::Document {
    HPDF_Doc file = nullptr;
    HPDF_Page page = nullptr;
    double height = 0;
    std::map<double, HPDF_ExtGState> opacities = {};
    const char* font = nullptr;  // null: there is none, and letters are outlines
    bool has_latin_only = false;
    PaperPalette palette = paper_palettes.front();

    ~Document() { HPDF_Free(file); }

    [[nodiscard]] HPDF_REAL up(double y) const { return real(height - y); }  // y of a PDF points up

    void fill_with(Colour of_default) const {
        const Colour colour = in_palette(of_default, palette);
        HPDF_Page_SetRGBFill(page, real(colour.red / 255.0), real(colour.green / 255.0), real(colour.blue / 255.0));
    }
    void add_path(const Rectangle& box) const {
        HPDF_Page_Rectangle(page, real(box.x), up(box.y + box.height), real(box.width), real(box.height));
    }
};

PdfCanvas::PdfCanvas(int width, int height, const PdfStyle& style) : document_(std::make_unique<Document>()) {
    const double points = style.points;
    document_->file = HPDF_New(note_failure, nullptr);
    if (document_->file == nullptr) throw MachineError("out of memory while creating a PDF");
    document_->height = height;
    document_->palette = style.palette;
    HPDF_SetCompressionMode(document_->file, HPDF_COMP_ALL);
    HPDF_UseUTFEncodings(document_->file);
    if (style.font.empty()) {
        document_->font = load_main_font(document_->file);
    } else {
        document_->font = load_font(document_->file, style.font);
        document_->has_latin_only = is_type1(style.font);
        if (document_->font == nullptr) {
            throw RecipeError(
                fmt::format("--font {}: expected a font of TrueType (.ttf) or Type 1 (.pfb) whose licence permits to embed it",
                            style.font));
        }
    }
    document_->page = HPDF_AddPage(document_->file);
    HPDF_Page_SetWidth(document_->page, real(width * points));
    HPDF_Page_SetHeight(document_->page, real(height * points));
    HPDF_Page_Concat(document_->page, points, 0, 0, points, 0, 0);
}

PdfCanvas::~PdfCanvas() = default;

void PdfCanvas::line(Point from, Point to, Colour of_default, double width) {
    const HPDF_Page page = document_->page;
    const Colour colour = in_palette(of_default, document_->palette);
    HPDF_Page_SetRGBStroke(page, real(colour.red / 255.0), real(colour.green / 255.0), real(colour.blue / 255.0));
    HPDF_Page_SetLineCap(page, HPDF_ROUND_END);
    HPDF_Page_SetLineWidth(page, real(width));
    HPDF_Page_MoveTo(page, real(from.x), document_->up(from.y));
    HPDF_Page_LineTo(page, real(to.x), document_->up(to.y));
    HPDF_Page_Stroke(page);
}

void PdfCanvas::box(const Rectangle& box, Colour colour, double opacity) {
    if (box.width <= 0 || box.height <= 0) return;
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
    document_->add_path(box);
    HPDF_Page_Fill(page);
    if (opacity < 1) HPDF_Page_GRestore(page);
}

void PdfCanvas::boxes(std::span<const Box> boxes, const Filling& filling) {
    const HPDF_Page page = document_->page;
    for (const Box& each : boxes) {
        box(each, filling.colour);
        if (!filling.lines || each.width <= 0 || each.height <= 0) continue;
        HPDF_Page_GSave(page);
        document_->add_path(each);
        HPDF_Page_Clip(page);
        HPDF_Page_EndPath(page);
        // Lines where x + y is a multiple of the distance, as on the other canvases.
        constexpr int distance = filling_line_distance;
        for (int sum = (each.x + each.y + distance - 1) / distance * distance; sum <= each.right() + each.bottom();
             sum += distance) {
            const double top = each.y;
            const double bottom = each.bottom();
            line({sum - top, top}, {sum - bottom, bottom}, *filling.lines, filling_line_width);
        }
        HPDF_Page_GRestore(page);
    }
}

void PdfCanvas::picture(const Box& box, const Image& pixels) {
    std::vector<std::uint8_t> bytes = pixels.pixels;
    for (std::size_t i = 0; i + 2 < bytes.size(); i += 3) {
        const Colour colour = in_palette({bytes[i], bytes[i + 1], bytes[i + 2]}, document_->palette);
        bytes[i] = colour.red, bytes[i + 1] = colour.green, bytes[i + 2] = colour.blue;
    }
    const HPDF_Image image = HPDF_LoadRawImageFromMem(document_->file, bytes.data(), static_cast<HPDF_UINT>(pixels.width),
                                                      static_cast<HPDF_UINT>(pixels.height), HPDF_CS_DEVICE_RGB, 8);
    if (image == nullptr) return;
    HPDF_Page_DrawImage(document_->page, image, real(box.x), document_->up(box.bottom()), real(box.width), real(box.height));
}

void PdfCanvas::marker(Marker shape, Point centre, double radius, Colour colour) {
    const HPDF_Page page = document_->page;
    document_->fill_with(colour);
    if (shape == Marker::circle) {
        HPDF_Page_Circle(page, real(centre.x), document_->up(centre.y), real(radius));
    }
    for (bool first = true; const Point& corner : corners_of(shape)) {
        const HPDF_REAL x = real(centre.x + corner.x * radius);
        const HPDF_REAL y = document_->up(centre.y + corner.y * radius);
        std::exchange(first, false) ? HPDF_Page_MoveTo(page, x, y) : HPDF_Page_LineTo(page, x, y);
    }
    HPDF_Page_Fill(page);
}

void PdfCanvas::draw_text(Point at, std::string_view text, const TextStyle& style) {
    const std::optional<std::u32string> characters = in_main_font(text);
    if (!characters || document_->font == nullptr) return draw_outline(at, text, style);
    const HPDF_Page page = document_->page;
    // Readers know Latin letters without a table of the file.
    const std::optional<std::string> latin = in_latin(*characters);
    if (!latin && document_->has_latin_only) return draw_outline(at, text, style);
    const std::string bytes = latin.value_or(std::string(text));
    HPDF_Page_SetFontAndSize(page, HPDF_GetFont(document_->file, document_->font, latin ? "WinAnsiEncoding" : "UTF-8"),
                             real(style.size));
    const double width = HPDF_Page_TextWidth(page, bytes.c_str());
    const double before = style.align == Align::left ? 0 : style.align == Align::centre ? width / 2 : width;
    document_->fill_with(style.colour);
    HPDF_Page_BeginText(page);
    HPDF_Page_TextOut(page, real(at.x - before), document_->up(at.y), bytes.c_str());
    HPDF_Page_EndText(page);
}

void PdfCanvas::draw_outline(Point at, std::string_view text, const TextStyle& style) {
    const std::vector<OutlinePart> parts = text_outline(at, text, style);
    if (parts.empty()) return;
    const HPDF_Page page = document_->page;
    const auto pdf = [&](Point place) { return std::pair(real(place.x), document_->up(place.y)); };
    document_->fill_with(style.colour);
    for (const OutlinePart& part : parts) {
        const auto [x3, y3] = pdf(part.end);
        if (part.kind == OutlinePart::PathStep::move) HPDF_Page_MoveTo(page, x3, y3);
        if (part.kind == OutlinePart::PathStep::line) HPDF_Page_LineTo(page, x3, y3);
        if (part.kind != OutlinePart::PathStep::curve) continue;
        const auto [x1, y1] = pdf(part.first);
        const auto [x2, y2] = pdf(part.second);
        HPDF_Page_CurveTo(page, x1, y1, x2, y2, x3, y3);
    }
    HPDF_Page_Fill(page);
}

std::string PdfCanvas::bytes() const {
    HPDF_SaveToStream(document_->file);
    if (const HPDF_STATUS status = HPDF_GetError(document_->file); status != HPDF_OK) {
        throw MachineError(fmt::format("a PDF could not be drawn: libharu error 0x{:04X}", status));
    }
    HPDF_UINT32 size = HPDF_GetStreamSize(document_->file);
    std::string bytes(size, '\0');
    HPDF_ReadFromStream(document_->file, reinterpret_cast<HPDF_BYTE*>(bytes.data()), &size);
    return bytes;
}

}  // namespace workbench
