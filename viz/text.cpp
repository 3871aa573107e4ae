#include "viz/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb/stb_truetype.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

// The font files, embedded by the assembler.
asm(".pushsection .rodata\n"
    "workbench_font: .incbin \"" WORKBENCH_FONT_FILE
    "\"\n"
    "workbench_font_end: .byte 0\n"
#ifdef WORKBENCH_CJK_FONT_FILE
    "workbench_cjk_font: .incbin \"" WORKBENCH_CJK_FONT_FILE
    "\"\n"
#endif
    ".popsection\n");
extern "C" const unsigned char workbench_font[];
extern "C" const unsigned char workbench_font_end[];
#ifdef WORKBENCH_CJK_FONT_FILE
extern "C" const unsigned char workbench_cjk_font[];
#endif

namespace workbench {
namespace {

using Font = stbtt_fontinfo;

Font load(const unsigned char* bytes) {
    Font font{};
    if (stbtt_InitFont(&font, bytes, 0) == 0) throw std::logic_error("a font in the program is damaged");
    return font;
}

/// Each character is drawn in the first font that has it.
const std::vector<Font>& fonts() {
    static const std::vector<Font> loaded{
        load(workbench_font),
#ifdef WORKBENCH_CJK_FONT_FILE
        load(workbench_cjk_font),
#endif
    };
    return loaded;
}

constexpr int replacement_character = 0xFFFD;

/// Removes and returns the first character of the text.
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

struct Glyph {
    const Font* font = nullptr;
    int index = 0;
};

/// A character that no font has is written as its number, <4E2D>, so that different texts look different.
std::vector<Glyph> glyphs_of(std::string_view text) {
    std::vector<Glyph> glyphs;
    const auto find = [](int character) {
        for (const Font& font : fonts()) {
            if (const int index = stbtt_FindGlyphIndex(&font, character); index != 0) return Glyph{&font, index};
        }
        return Glyph{};
    };
    while (!text.empty()) {
        const int character = next_character(text);
        if (const Glyph glyph = find(character); glyph.font != nullptr) {
            glyphs.push_back(glyph);
            continue;
        }
        for (const char letter : fmt::format("<{:04X}>", character)) glyphs.push_back(find(letter));
    }
    return glyphs;
}

/// Calls visit(glyph, pen position in pixels, scale) for each glyph. Returns the pen position after the last.
template <typename Visit>
float walk_glyphs(std::string_view text, int size, const Visit& visit) {
    float pen = 0;
    Glyph previous;
    for (const Glyph& glyph : glyphs_of(text)) {
        const float scale = stbtt_ScaleForMappingEmToPixels(glyph.font, static_cast<float>(size));
        if (previous.font == glyph.font) {
            pen += scale * static_cast<float>(stbtt_GetGlyphKernAdvance(glyph.font, previous.index, glyph.index));
        }
        visit(glyph, pen, scale);
        int advance = 0;
        stbtt_GetGlyphHMetrics(glyph.font, glyph.index, &advance, nullptr);
        pen += scale * static_cast<float>(advance);
        previous = glyph;
    }
    return pen;
}

/// Draws one glyph with the origin of its outline at (x, y).
void draw_glyph(Image& image, float x, int y, const Glyph& glyph, float scale, Colour colour) {
    const float whole = std::floor(x);
    const float shift = x - whole;
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
    stbtt_GetGlyphBitmapBoxSubpixel(glyph.font, glyph.index, scale, scale, shift, 0, &left, &top, &right, &bottom);
    const int width = right - left;
    const int height = bottom - top;
    if (width < 1 || height < 1) return;
    std::vector<unsigned char> coverage(static_cast<std::size_t>(width) * height);
    stbtt_MakeGlyphBitmapSubpixel(glyph.font, coverage.data(), width, height, width, scale, scale, shift, 0, glyph.index);
    for (int row = 0; row < height; ++row) {
        for (int column = 0; column < width; ++column) {
            const int opacity = coverage[static_cast<std::size_t>(row) * width + column];
            fill(image, {static_cast<int>(whole) + left + column, y + top + row, 1, 1}, colour, opacity + opacity / 128);
        }
    }
}

float start_of(float x, std::string_view text, const TextStyle& style) {
    if (style.align == Align::left) return x;
    const int width = text_width(text, style.size);
    return style.align == Align::centre ? x - static_cast<float>(width / 2) : x - static_cast<float>(width);
}

constexpr std::string_view ellipsis = "…";

/// The beginning of the text, at most half of the width, and as much of its end as fits.
std::string with_end(std::string_view text, int size, int width) {
    const std::size_t colon = text.find(": ");
    std::string head(text.substr(0, colon == std::string_view::npos ? 0 : colon + 2));
    if (head.empty() || text_width(head, size) > width / 2) head = shortened(text, size, width / 3);
    if (!head.ends_with(ellipsis)) head += ellipsis;
    for (std::string_view end = text; !end.empty(); static_cast<void>(next_character(end))) {
        std::string fitting = head + std::string(end);
        if (text_width(fitting, size) <= width) return fitting;
    }
    return head;
}

/// The texts that differ from text i but are cut to the same.
std::vector<std::size_t> others_like(const std::vector<std::string>& cut, const std::vector<std::string>& texts,
                                     std::size_t i) {
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < texts.size(); ++k) {
        if (cut[k] == cut[i] && texts[k] != texts[i]) others.push_back(k);
    }
    return others;
}

/// The offset of the word in which a text begins to differ from another one.
std::size_t first_difference(const std::string& text, const std::string& other) {
    const auto [here, there] = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
    const std::size_t blank = text.rfind(' ', static_cast<std::size_t>(here - text.begin()));
    return blank == std::string::npos ? 0 : blank + 1;
}

}  // namespace

bool has_cjk_font() { return fonts().size() > 1; }

std::string_view main_font() {
    return {reinterpret_cast<const char*>(workbench_font), static_cast<std::size_t>(workbench_font_end - workbench_font)};
}

std::optional<std::u32string> in_main_font(std::string_view text) {
    std::u32string characters;
    while (!text.empty()) {
        const int character = next_character(text);
        if (stbtt_FindGlyphIndex(&fonts().front(), character) == 0) return std::nullopt;
        characters += static_cast<char32_t>(character);
    }
    return characters;
}

int text_width(std::string_view text, int size) {
    return static_cast<int>(std::ceil(walk_glyphs(text, size, [](const Glyph&, float, float) {})));
}

void draw_text(Image& image, int x, int y, std::string_view text, const TextStyle& style) {
    const float start = start_of(static_cast<float>(x), text, style);
    walk_glyphs(text, style.size, [&](const Glyph& glyph, float pen, float scale) {
        draw_glyph(image, start + pen, y, glyph, scale, style.colour);
    });
}

std::vector<OutlinePart> text_outline(Point at, std::string_view text, const TextStyle& style) {
    std::vector<OutlinePart> parts;
    const double start = start_of(static_cast<float>(at.x), text, style);
    walk_glyphs(text, style.size, [&](const Glyph& glyph, float pen, float scale) {
        stbtt_vertex* vertices = nullptr;
        const int count = stbtt_GetGlyphShape(glyph.font, glyph.index, &vertices);
        const auto place = [&](int right, int up) { return Point{start + pen + right * scale, at.y - up * scale}; };
        Point last;
        for (int i = 0; i < count; ++i) {
            const stbtt_vertex& vertex = vertices[i];
            OutlinePart part{.kind = OutlinePart::PathStep::line, .first = {}, .second = {}, .end = place(vertex.x, vertex.y)};
            if (vertex.type == STBTT_vmove) part.kind = OutlinePart::PathStep::move;
            if (vertex.type == STBTT_vcurve) {
                // A quadratic curve as a cubic one.
                const Point middle = place(vertex.cx, vertex.cy);
                part.kind = OutlinePart::PathStep::curve;
                part.first = {last.x + (middle.x - last.x) * 2 / 3, last.y + (middle.y - last.y) * 2 / 3};
                part.second = {part.end.x + (middle.x - part.end.x) * 2 / 3, part.end.y + (middle.y - part.end.y) * 2 / 3};
            }
            last = part.end;
            parts.push_back(part);
        }
        stbtt_FreeShape(glyph.font, vertices);
    });
    return parts;
}

std::string shortened(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width) return std::string(text);
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

std::vector<std::string> shortened(const std::vector<std::string>& names, int size, int width) {
    std::vector<std::string> texts = names;
    const auto fits = [&](const std::string& text) { return text_width(text, size) <= width; };
    if (!std::ranges::all_of(names, fits)) {
        for (std::string& text : texts) {
            if (std::string point = with_short_keys(text); !point.empty()) text = std::move(point);
        }
    }
    std::vector<std::string> cut;
    for (const std::string& text : texts) cut.push_back(shortened(text, size, width));
    std::vector<std::string> ends = cut;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!others_like(cut, texts, i).empty()) ends[i] = with_end(texts[i], size, width);
    }
    std::vector<std::string> result = ends;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::vector<std::size_t> others = others_like(ends, texts, i);
        if (others.empty()) continue;
        std::size_t begin = texts[i].size();
        for (const std::size_t other : others) begin = std::min(begin, first_difference(texts[i], texts[other]));
        result[i] = shortened(std::string(ellipsis) + texts[i].substr(begin), size, width);
    }
    return result;
}

int fitting_size(std::string_view text, int size, int smallest, int width) {
    while (size > smallest && text_width(text, size) > width) --size;
    return size;
}

std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most_lines) {
    std::vector<std::string> lines;
    while (!text.empty() && lines.size() < most_lines) {
        std::size_t end = text.size();
        const bool last = lines.size() + 1 == most_lines;
        while (!last && text_width(text.substr(0, end), size) > width) {
            const std::size_t space = text.rfind(' ', end - 1);
            if (space == std::string_view::npos || space == 0) break;
            end = space;
        }
        lines.push_back(shortened(text.substr(0, end), size, width));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
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
