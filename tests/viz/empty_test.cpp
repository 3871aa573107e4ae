// Charts and pictures without values, and texts with letters that markup gives a meaning.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/drawn_texts.hpp"
#include "viz/chart.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {
namespace {

template <typename Picture>
std::set<std::string> texts_of(const Picture& picture) {
    TextCanvas canvas;
    draw(canvas, picture);
    std::set<std::string> texts;
    for (const DrawnText& one : canvas.texts) texts.insert(one.text);
    return texts;
}

}  // namespace

TEST_SUITE("pictures without values") {
    TEST_CASE("axes of a chart without points are marked from 0 to 10, or from 1 if they are logarithmic") {
        for (const bool logarithmic : {false, true}) {
            const std::set<std::string> texts =
                texts_of(XyChart{"title", "", {"x", logarithmic}, {"y", logarithmic}, {Series{"series", {}}}});
            CHECK(texts.contains("10"));
            CHECK(texts.contains(logarithmic ? "1" : "0"));
            CHECK(!texts.contains(logarithmic ? "0" : "1"));
        }
    }

    TEST_CASE("a logarithmic axis without positive values begins at a tenth of the highest one, or at 0.1") {
        const Axis axis{"x", true};
        CHECK(Scale(axis, {0, 0}, {0, 100}).at(0.1) == doctest::Approx(0));
        CHECK(Scale(axis, {0, 1000}, {0, 100}).at(100) == doctest::Approx(0));
        CHECK(Scale(axis, {0, 1000}, {0, 100}).at(1000) == doctest::Approx(100));
        CHECK_FALSE(Scale(axis, {0, 1000}, {0, 100}).can_show(0));
        CHECK(Scale(axis, {0, 1000}, {0, 100}).can_show(1e-300));
        CHECK(Scale({"y"}, {0, 1000}, {0, 100}).can_show(0));
    }

    TEST_CASE("an axis of equal values has a length of 1, or of a factor of 2") {
        const Scale linear({"y"}, {3, 3}, {0, 100});
        CHECK(linear.at(3) == doctest::Approx(0));
        CHECK(linear.at(4) == doctest::Approx(100));
        const Scale logarithmic({"y", true}, {10, 10}, {0, 100});
        CHECK(logarithmic.at(10) == doctest::Approx(0));
        CHECK(logarithmic.at(20) == doctest::Approx(100));
    }

    TEST_CASE("letters of markup are escaped in texts") {
        const std::string svg = svg_of(XyChart{"a < b > c & \"d\"", "", {"x"}, {"y"}, {Series{"series", {{1, 1}}}}});
        CHECK(svg.find("a &lt; b &gt; c &amp; ") != std::string::npos);
        CHECK(svg.find("a < b") == std::string::npos);
    }

    TEST_CASE("mean lengths of columns are drawn below a pattern if there are any") {
        for (const bool any : {false, true}) {
            std::vector<Entry> entries;
            if (any) entries.push_back({7, 5, 1});
            PatternRaster raster = rasterise(stage_input(csr_from_entries(2000, 2000, entries)), 200);
            raster.column_cuts = {100};
            const std::set<std::string> texts = texts_of(StagePicture{raster, {16}, {}});
            const auto is_note = [](const std::string& text) { return text.find("below: mean column lengths") == 0; };
            CHECK(std::any_of(texts.begin(), texts.end(), is_note) == any);
        }
    }
}

}  // namespace workbench
