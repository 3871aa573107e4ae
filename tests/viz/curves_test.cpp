// Curves of many points: few markers, and those of curves that lie on each other in different places.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "viz/chart.hpp"

namespace workbench {
namespace {

/// Notes where markers are drawn, by their colour.
class NotingCanvas final : public Canvas {
public:
    void line(double, double, double, double, Colour, double) override {}
    void boxes(std::span<const Box>, const Filling&) override {}
    void box(double, double, double, double, Colour, double) override {}
    void picture(const Box&, const Image&) override {}
    void marker(Marker shape, double x, double, double, Colour) override { places[shape].push_back(x); }
    void text(double, double, std::string_view, const TextStyle&) override {}

    std::map<Marker, std::vector<double>> places;
};

std::map<Marker, std::vector<double>> places_of_two(Drawn drawn) {
    Series series{"", {}, drawn};
    for (int i = 0; i <= 1000; ++i) series.points.emplace_back(i, 1);
    NotingCanvas canvas;
    draw(canvas, XyChart{"", "", {""}, {"", false, 0, 2}, {series, series}});
    return canvas.places;
}

}  // namespace

TEST_CASE("curves have few markers, and two that coincide have theirs apart") {
    CHECK(places_of_two(Drawn::lines)[Marker::circle].size() == 1001 + 1);  // one in the legend
    const auto places = places_of_two(Drawn::curves);
    const std::vector<double>& first = places.at(Marker::circle);
    const std::vector<double>& second = places.at(Marker::square);
    REQUIRE(first.size() > 5);
    REQUIRE(first.size() < 20);
    REQUIRE(second.size() > 5);
    // The legend's may be drawn before or after: it stands far right of all others.
    const double right = std::max(first.front(), first.back());
    for (const double one : first) {
        for (const double other : second) {
            if (one < right && other < right) CHECK(std::abs(one - other) > 5);
        }
    }
}

TEST_CASE("curves of few points that are far apart have all their markers") {
    Series series{"", {{0, 1}, {1, 2}, {2, 1}}, Drawn::curves};
    NotingCanvas canvas;
    draw(canvas, XyChart{"", "", {""}, {""}, {series}});
    CHECK(canvas.places[Marker::circle].size() == 3 + 1);
}

}  // namespace workbench
