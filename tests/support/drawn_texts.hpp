// The texts of a picture: which of them overlap, are cut, or leave the picture.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "viz/canvas.hpp"
#include "viz/text.hpp"

namespace workbench {

struct DrawnText {
    std::string text;
    Rectangle place;  // of its capitals and digits, without the room below the baseline
};

/// Records the places of texts, boxes and markers.
class TextCanvas final : public Canvas {
public:
    void line(Point, Point, Colour, double) override {}
    void box(const Rectangle& box, Colour, double) override { drawn.push_back(box); }
    void boxes(std::span<const Box> boxes, const Filling&) override { drawn.insert(drawn.end(), boxes.begin(), boxes.end()); }
    void picture(const Box&, const Image&) override {}
    void marker(Marker, Point centre, double, Colour) override { marks.push_back(centre); }

    std::vector<DrawnText> texts;
    std::vector<Point> marks;
    std::vector<Rectangle> drawn;

private:
    void draw_text(Point at, std::string_view text, const TextStyle& style) override {
        if (text.empty()) return;
        constexpr double capitals = 0.73;  // of the em square
        const double width = text_width(text, style.size);
        const double before = style.align == Align::left ? 0 : style.align == Align::centre ? width / 2 : width;
        texts.push_back({std::string(text), {at.x - before, at.y - capitals * style.size, width, capitals * style.size}});
    }
};

[[nodiscard]] std::vector<std::string> words_of(const auto& picture) {
    TextCanvas canvas;
    draw(canvas, picture);
    std::vector<std::string> words;
    for (const DrawnText& text : canvas.texts) words.push_back(text.text);
    return words;
}

inline bool overlap(const Rectangle& a, const Rectangle& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

using Faults = std::vector<std::string>;

/// The texts that overlap a box or another text.
[[nodiscard]] inline Faults overlapping_texts(const TextCanvas& canvas) {
    Faults faults;
    for (const DrawnText& one : canvas.texts) {
        const auto with_box = [&](const Rectangle& box) { return overlap(box, one.place); };
        const auto with_text = [&](const DrawnText& text) { return overlap(text.place, one.place); };  // also with itself
        const bool alone = std::count_if(canvas.texts.begin(), canvas.texts.end(), with_text) == 1;
        if (!alone || std::any_of(canvas.drawn.begin(), canvas.drawn.end(), with_box)) faults.push_back(one.text);
    }
    return faults;
}

/// What is wrong with the texts and boxes of a picture; empty: nothing.
template <typename Picture>
[[nodiscard]] Faults faults_of(const Picture& picture) {
    TextCanvas canvas;
    draw(canvas, picture);
    const PictureSize size = size_of(picture);
    std::vector<DrawnText>& texts = canvas.texts;
    std::sort(texts.begin(), texts.end(), [](const DrawnText& a, const DrawnText& b) { return a.place.y < b.place.y; });
    Faults faults;
    for (const Rectangle& box : canvas.drawn) {
        if (box.width <= 0 || box.height <= 0) continue;
        if (box.x < -1 || box.y < -1 || box.x + box.width > size.width + 1 || box.y + box.height > size.height + 1) {
            faults.push_back(fmt::format("a box at {}, {} leaves the picture", box.x, box.y));
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto& [text, place] = texts[i];
        if (text.find("…") != std::string::npos) faults.push_back(fmt::format("'{}' is cut", text));
        if (place.x < 0 || place.y < 0 || place.x + place.width > size.width || place.y + place.height > size.height) {
            faults.push_back(fmt::format("'{}' leaves the picture", text));
        }
        for (std::size_t k = i + 1; k < texts.size() && texts[k].place.y < place.y + place.height; ++k) {
            if (overlap(texts[k].place, place)) faults.push_back(fmt::format("'{}' overlaps '{}'", texts[k].text, text));
        }
    }
    return faults;
}

}  // namespace workbench
