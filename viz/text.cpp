#include "viz/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb/stb_truetype.h>

// The font file itself, read by the assembler.
asm(".pushsection .rodata\n"
    "workbench_font: .incbin \"" WORKBENCH_FONT_FILE
    "\"\n"
    ".popsection\n");
extern "C" const unsigned char workbench_font[];

namespace workbench {
namespace {

const stbtt_fontinfo& font() {
    static const stbtt_fontinfo loaded = [] {
        stbtt_fontinfo info{};
        if (stbtt_InitFont(&info, workbench_font, 0) == 0) throw std::logic_error("the font in the program is damaged");
        return info;
    }();
    return loaded;
}

constexpr int replacement_character = 0xFFFD;

/// Takes the first character off the text.
int next_character(std::string_view& text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xE ? 3 : first >> 3 == 0x1E ? 4 : 0;
    unsigned character = length == 1 ? first : first & (0x7FU >> length);
    bool good = length > 0 && length <= text.size();
    for (std::size_t i = 1; good && i < length; ++i) {
        good = byte(i) >> 6 == 0x2;
        character = character << 6 | (byte(i) & 0x3F);
    }
    text.remove_prefix(good ? length : 1);
    return good ? static_cast<int>(character) : replacement_character;
}

/// Calls visit(glyph, pen position in pixels) for each character; gives the pen position after the last.
template <typename Visit>
float walk_glyphs(std::string_view text, int size, const Visit& visit) {
    const float scale = stbtt_ScaleForMappingEmToPixels(&font(), static_cast<float>(size));
    float pen = 0;
    int previous = 0;
    while (!text.empty()) {
        const int glyph = stbtt_FindGlyphIndex(&font(), next_character(text));
        if (previous != 0) pen += scale * static_cast<float>(stbtt_GetGlyphKernAdvance(&font(), previous, glyph));
        visit(glyph, pen, scale);
        int advance = 0;
        stbtt_GetGlyphHMetrics(&font(), glyph, &advance, nullptr);
        pen += scale * static_cast<float>(advance);
        previous = glyph;
    }
    return pen;
}

/// Lays one glyph over the picture with the origin of its outline at (x, y).
void draw_glyph(Image& image, float x, int y, int glyph, float scale, Colour colour) {
    const float whole = std::floor(x);
    const float shift = x - whole;
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
    stbtt_GetGlyphBitmapBoxSubpixel(&font(), glyph, scale, scale, shift, 0, &left, &top, &right, &bottom);
    const int width = right - left;
    const int height = bottom - top;
    if (width < 1 || height < 1) return;
    std::vector<unsigned char> coverage(static_cast<std::size_t>(width) * height);
    stbtt_MakeGlyphBitmapSubpixel(&font(), coverage.data(), width, height, width, scale, scale, shift, 0, glyph);
    for (int row = 0; row < height; ++row) {
        for (int column = 0; column < width; ++column) {
            const int opacity = coverage[static_cast<std::size_t>(row) * width + column];
            fill(image, {static_cast<int>(whole) + left + column, y + top + row, 1, 1}, colour, opacity + opacity / 128);
        }
    }
}

}  // namespace

int text_width(std::string_view text, int size) {
    return static_cast<int>(std::ceil(walk_glyphs(text, size, [](int, float, float) {})));
}

void draw_text(Image& image, int x, int y, std::string_view text, const TextStyle& style) {
    const int width = style.align == Align::left ? 0 : text_width(text, style.size);
    const int start = style.align == Align::left ? x : style.align == Align::centre ? x - width / 2 : x - width;
    walk_glyphs(text, style.size, [&](int glyph, float pen, float scale) {
        draw_glyph(image, static_cast<float>(start) + pen, y, glyph, scale, style.colour);
    });
}

std::string shortened(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width) return std::string(text);
    constexpr std::string_view ellipsis = "…";
    std::string fitting;
    std::string_view rest = text;
    while (!rest.empty()) {
        next_character(rest);
        const std::string longer = std::string(text.substr(0, text.size() - rest.size())) + std::string(ellipsis);
        if (text_width(longer, size) > width) break;
        fitting = longer;
    }
    return fitting;
}

std::string grouped(Offset number) {
    std::string digits = fmt::format("{}", number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t place = digits.size(); place > sign + 3;) {
        place -= 3;
        digits.insert(place, "\u202F");
    }
    return digits;
}

std::string compact(Offset number) {
    constexpr std::array<std::string_view, 4> suffixes{"", "k", "M", "G"};
    auto shown = static_cast<double>(number);
    std::size_t suffix = 0;
    while (shown >= 1000 && suffix + 1 < suffixes.size()) {
        shown /= 1000;
        ++suffix;
    }
    return fmt::format("{:.4g}{}", shown, suffixes[suffix]);
}

}  // namespace workbench
