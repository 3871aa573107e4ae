// Charts of measurements: points and lines over two axes, bars in rows, and tables of colours.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas.hpp"

namespace workbench {

/// So many series are told apart by colour and marker; the colours are Paul Tol's "bright" scheme, which the colour-blind can
/// tell apart too.
inline constexpr std::size_t most_series = 7;
[[nodiscard]] Colour series_colour(std::size_t series);
[[nodiscard]] Marker series_marker(std::size_t series);

struct Axis {
    std::string label;
    bool logarithmic = false;        // values that are not positive are left out
    std::optional<double> low = {};  // where it begins and ends; from the values where nothing is said
    std::optional<double> high = {};
};

/// curves: lines through so many points that only a few have markers, those of each series elsewhere, so that curves which lie
/// on each other are seen to.
enum class Drawn { markers, lines, steps, curves };

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // all but markers: with ascending x
    Drawn drawn = Drawn::markers;
    std::set<std::size_t> hollow = {};  // the points whose marks are
};

struct XyChart {
    std::string title;
    std::string subtitle;
    Axis x;
    Axis y;
    std::vector<Series> series;       // at most most_series
    std::vector<Series> guides = {};  // grey lines beneath, with their names at their right end
    std::string foot = {};            // a line below
};

struct BarChart {
    std::string title;
    std::string subtitle;
    std::string label;  // of the values
    std::vector<std::string> rows;
    std::vector<std::string> series;                                                      // at most most_series
    std::vector<std::vector<std::optional<double>>> values;                               // [row][series]
    std::optional<double> guide = {};                                                     // a line at this value
    std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> spans = {};  // by row and series: from, to
    std::string foot = {};
};

/// Values are ratios: 1 is white, more is blue, less is orange.
struct HeatMap {
    std::string title;
    std::string subtitle;
    std::string row_label;
    std::string column_label;
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    std::vector<std::vector<std::optional<double>>> values;             // [row][column]
    std::set<std::pair<std::size_t, std::size_t>> without_colour = {};  // by row and column
    std::string foot = {};                                              // a line below that on colours
};

struct ChartSize {
    int width = 0;
    int height = 0;
};

[[nodiscard]] ChartSize size_of(const XyChart& chart);
[[nodiscard]] ChartSize size_of(const BarChart& chart);
[[nodiscard]] ChartSize size_of(const HeatMap& chart);
void draw(Canvas& canvas, const XyChart& chart);
void draw(Canvas& canvas, const BarChart& chart);
void draw(Canvas& canvas, const HeatMap& chart);

template <typename Chart>
[[nodiscard]] Image image_of(const Chart& chart) {
    const ChartSize size = size_of(chart);
    RasterCanvas canvas(size.width, size.height);
    draw(canvas, chart);
    return canvas.image();
}

template <typename Chart>
[[nodiscard]] std::string svg_of(const Chart& chart) {
    const ChartSize size = size_of(chart);
    SvgCanvas canvas(size.width, size.height);
    draw(canvas, chart);
    return canvas.text();
}

/// Where the values of an axis lie between `from` and `to` on the picture, and where it has marks.
class Scale {
public:
    /// For values from low to high; begins and ends at marks where the axis does not say otherwise.
    Scale(const Axis& axis, double low, double high, double from, double to);

    [[nodiscard]] double at(double value) const;
    [[nodiscard]] bool shows(double value) const;
    [[nodiscard]] const std::vector<double>& marks() const { return marks_; }
    [[nodiscard]] double low() const { return low_; }
    [[nodiscard]] double high() const { return high_; }

private:
    bool logarithmic_;
    double low_;
    double high_;
    double from_;
    double to_;
    std::vector<double> marks_;
};

/// A mark in few letters: 0.5, 20, 3k, 1e-5.
[[nodiscard]] std::string mark_text(double value);

}  // namespace workbench
