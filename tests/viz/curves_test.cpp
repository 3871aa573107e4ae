// Curves of many points have few markers, and coinciding curves have them at different places.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "viz/chart.hpp"

namespace workbench {
namespace {

/// Records the places of markers.
class NotingCanvas final : public Canvas {
public:
    void line(Point from, Point, Colour, double) override { lines.push_back(from.x); }
    void box(const Rectangle& place, Colour, double) override { rectangles.push_back(place); }
    void boxes(std::span<const Box>, const Filling&) override {}
    void picture(const Box&, const Image&) override {}
    void marker(Marker shape, Point centre, double, Colour) override { places[shape].push_back(centre.x); }

    std::map<Marker, std::vector<double>> places;
    std::vector<double> lines;  // the x of their beginnings
    std::vector<Rectangle> rectangles;
    std::map<std::string, double, std::less<>> baselines;  // of texts

private:
    void draw_text(Point at, std::string_view text, const TextStyle&) override { baselines[std::string(text)] = at.y; }
};

std::map<Marker, std::vector<double>> places_of_two(Drawn drawn) {
    Series series{"", {}, drawn};
    for (int i = 0; i <= 1000; ++i) series.points.emplace_back(i, 1);
    NotingCanvas canvas;
    draw(canvas, XyChart{"", "", {""}, {"", false, 0, 2}, {series, series}});
    return canvas.places;
}

/// The distance between the label of the horizontal axis and the foot, which is within the chart.
double room_above_foot(const auto& chart, const std::string& label) {
    NotingCanvas canvas;
    draw(canvas, chart);
    CHECK(canvas.baselines.at("foot") < size_of(chart).height);
    return canvas.baselines.at("foot") - canvas.baselines.at(label);
}

}  // namespace

TEST_CASE("the foot of a chart is a line below the label of its axis") {
    const double line = 15;  // the height of small text
    CHECK(room_above_foot(XyChart{"", "", {"label"}, {""}, {Series{"", {{1, 1}}}}, {}, "foot"}, "label") >= line);
    BarChart bars;
    bars.label = "label";
    bars.rows = {"row"};
    bars.series = {"series"};
    bars.values = {{1.0}};
    bars.foot = "foot";
    CHECK(room_above_foot(bars, "label") >= line);
}

TEST_CASE("curves have few markers, and two that coincide have them at different places") {
    CHECK(places_of_two(Drawn::lines)[Marker::circle].size() == 1001 + 1);  // one in the legend
    const auto places = places_of_two(Drawn::curves);
    const std::vector<double>& first = places.at(Marker::circle);
    const std::vector<double>& second = places.at(Marker::square);
    REQUIRE(first.size() > 5);
    REQUIRE(first.size() < 20);
    REQUIRE(second.size() > 5);
    // The marker of the legend is to the right of all others.
    const double right = std::max(first.front(), first.back());
    for (const double one : first) {
        for (const double other : second) {
            if (one < right && other < right) CHECK(std::abs(one - other) > 5);
        }
    }
}

TEST_CASE("curves of few distant points have all their markers") {
    Series series{"", {{0, 1}, {1, 2}, {2, 1}}, Drawn::curves};
    NotingCanvas canvas;
    draw(canvas, XyChart{"", "", {""}, {""}, {series}});
    CHECK(canvas.places[Marker::circle].size() == 3 + 1);
}

TEST_CASE("marks of axes have a suffix from a thousand on, and an exponent outside 0.001 to 10^12") {
    CHECK(mark_text(999) == "999");
    CHECK(mark_text(1000) == "1k");
    CHECK(mark_text(-2500) == "-2500");
    CHECK(mark_text(0.001) == "0.001");
    CHECK(mark_text(0.0009) == "9e-04");
    CHECK(mark_text(1e12) == "1e+12");
    CHECK(mark_text(0) == "0");
}

TEST_CASE("the axes of a chart reach its guides") {
    NotingCanvas canvas;
    draw(canvas, XyChart{"", "", {""}, {""}, {Series{"", {{1, 1}, {2, 1.5}}}}, {Series{"guide", {{1, 1}, {70, 8000}}}}});
    CHECK(canvas.baselines.contains("80"));
    CHECK(canvas.baselines.contains("8k"));
}

TEST_CASE("an axis with given ends ends there") {
    const Scale scale({.label = "", .logarithmic = true, .low = 3, .high = 70}, {1, 50}, {0, 100});
    CHECK(scale.at(3) == 0);
    CHECK(scale.at(70) == 100);
    CHECK(scale.at(69) < 100);
}

TEST_CASE("a span that is much wider than the bars does not shorten them") {
    BarChart chart{.title = "", .subtitle = "", .label = "", .rows = {"r"}, .series = {"one"}, .values = {{1.0}}};
    chart.spans[{0, 0}] = {0.5, 100};
    NotingCanvas canvas;
    draw(canvas, chart);
    const Rectangle& bar = canvas.rectangles.front();
    CHECK(2 * bar.width > size_of(chart).width - bar.x - 200);  // more than half of the plot
}

TEST_CASE("the axis of a bar chart reaches its guide, which may be longer than all bars") {
    NotingCanvas canvas;
    draw(canvas,
         BarChart{.title = "", .subtitle = "", .label = "", .rows = {"r"}, .series = {"one"}, .values = {{0.5}}, .guide = 1});
    REQUIRE(canvas.rectangles.size() == 2);  // the bar and the legend
    const Rectangle& bar = canvas.rectangles.front();
    CHECK(2 * bar.width == doctest::Approx(canvas.lines.back() - bar.x));
}

}  // namespace workbench
