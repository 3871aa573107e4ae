// Text in pictures: width, shortening, characters of every script.
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "viz/canvas.hpp"
#include "viz/text.hpp"

namespace workbench {

TEST_CASE("text: numbers, shortening, damaged UTF-8") {
    CHECK(compact(0) == "0");
    CHECK(compact(999) == "999");
    CHECK(compact(20'000) == "20k");
    CHECK(compact(1'500'000) == "1.5M");
    CHECK(compact(2'000'000'000) == "2G");

    const std::string title = "Größe × Dichte";
    CHECK(shortened(title, 20, text_width(title, 20)) == title);
    const std::string cut = shortened(title, 20, text_width(title, 20) - 1);
    CHECK(cut != title);
    CHECK(text_width(cut, 20) < text_width(title, 20));
    CHECK(cut.ends_with("…"));
    CHECK(shortened(title, 20, 3).empty());

    for (const std::string& damaged :
         {std::string("\xC3"), std::string("\xFF\xFE"), std::string("a\xE2\x82"), std::string("\x80z")}) {
        CHECK(text_width(damaged, 20) > 0);
        Image image = blank_image(60, 30);
        draw_text(image, 2, 22, damaged, {20, {0, 0, 0}});
        CHECK_FALSE(image == blank_image(60, 30));
    }
}

TEST_CASE("texts that would be cut to the same keep the part in which they differ") {
    using Texts = std::vector<std::string>;
    const std::string same = "hot columns CSC, rest SELL-128: ";
    const Texts sweep = shortened(Texts{same + "density=0.125", "CSR", same + "density=0.250"}, 15, 240);
    CHECK(sweep[0].starts_with("hot col"));
    CHECK(sweep[0].ends_with("d0.125"));
    CHECK(sweep[1] == "CSR");
    CHECK(sweep[2].ends_with("d0.250"));
    CHECK(shortened(Texts{"heights: window=1024, slice_height=8", "heights: window=256, slice_height=8", "CSR"}, 15, 240) ==
          Texts{"heights: w1024 sh8", "heights: w256 sh8", "CSR"});
    const Texts middle = shortened(Texts{"rows sorted by length in windows, then SELL-16, then the columns by density",
                                         "rows sorted by length in windows, then SELL-32, then the columns by density"},
                                   15, 240);
    CHECK(middle[0].starts_with("…SELL-16, then"));
    CHECK(middle[1].starts_with("…SELL-32, then"));
    for (const Texts& texts : {sweep, middle}) {
        for (const std::string& text : texts) CHECK(text_width(text, 15) <= 240);
    }
    const Texts different =
        shortened(Texts{"a long name that differs from the first letter on", "another long name of a recipe here"}, 15, 240);
    CHECK(different[0] == shortened(std::string_view("a long name that differs from the first letter on"), 15, 240));
    CHECK(shortened(Texts{same + same, same + same}, 15, 240) == Texts(2, shortened(std::string_view(same + same), 15, 240)));
}

TEST_CASE("different characters of every script look different") {
    // No font has this character of the private use area.
    CHECK(text_width("\uE000", 20) == text_width("<E000>", 20));
    const auto drawn = [](const std::string& text) {
        Image image = blank_image(120, 40);
        draw_text(image, 4, 30, text, {24, {0, 0, 0}});
        return image;
    };
    CHECK(drawn("\uE000") == drawn("<E000>"));
    CHECK_FALSE(drawn("稀") == drawn("疏"));
    CHECK_FALSE(drawn("疎") == drawn("희"));
    if (has_cjk_font()) {
        CHECK(text_width("稀疏矩阵", 20) == 80);  // one em each
    } else {
        CHECK(drawn("稀") == drawn("<7A00>"));
    }
}

TEST_CASE("all points of an outline are beside its text, and its curves are quadratic") {
    int curves = 0;
    Point last;
    for (const OutlinePart& part : text_outline({1000, 500}, "Größe g", {20, {0, 0, 0}})) {
        std::vector<Point> points{part.end};
        if (part.kind == OutlinePart::PathStep::curve) points.insert(points.end(), {part.first, part.second});
        curves += part.kind == OutlinePart::PathStep::curve ? 1 : 0;
        for (const Point& point : points) {
            CHECK(std::abs(point.x - 1050) < 60);
            CHECK(std::abs(point.y - 495) < 20);
        }
        if (part.kind == OutlinePart::PathStep::curve) {  // the third derivative is 0
            CHECK(std::abs(part.end.x - last.x - 3 * (part.second.x - part.first.x)) < 1e-9);
            CHECK(std::abs(part.end.y - last.y - 3 * (part.second.y - part.first.y)) < 1e-9);
        }
        last = part.end;
    }
    CHECK(curves > 10);
}

TEST_CASE("drawing is clipped to the picture") {
    Image image = blank_image(8, 6);
    fill(image, {-5, -5, 100, 100}, {1, 2, 3});
    CHECK(image == blank_image(8, 6, {1, 2, 3}));
    fill(image, {3, 3, -2, 4}, {9, 9, 9});
    CHECK(image == blank_image(8, 6, {1, 2, 3}));
    draw_text(image, -20, 3, "clipped on every side", {30, {200, 0, 0}});
    CHECK_THROWS_AS((void)blank_image(0, 4), std::invalid_argument);
}

TEST_CASE("an outline is within its box") {
    RasterCanvas canvas(8, 6);
    outline(canvas, {0, 0, 8, 6}, 1, {4, 5, 6});
    CHECK(canvas.image().at(0, 0) == Colour{4, 5, 6});
    CHECK(canvas.image().at(7, 5) == Colour{4, 5, 6});
    CHECK(canvas.image().at(1, 1) == white);
    CHECK(canvas.image().at(6, 4) == white);
}

}  // namespace workbench
