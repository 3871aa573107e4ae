// Charts of measurements: points and lines over two axes, horizontal bars, and heat maps.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas.hpp"

namespace workbench {

/// The number of series with a colour of their own: the hues of the palette, and grey. Markers differ as well.
inline constexpr std::size_t most_series = 7;
[[nodiscard]] Colour series_colour(std::size_t series);
[[nodiscard]] Marker series_marker(std::size_t series);

struct Axis {
    std::string label;
    bool logarithmic = false;        // values that are not positive are left out
    std::optional<double> low = {};  // the ends of the axis; default: from the values
    std::optional<double> high = {};
    std::vector<double> marks = {};  // values with marks; default: chosen for the range
};

/// curves: lines of many points of which a few have markers, at different places in each series, so that coinciding curves
/// remain visible.
enum class Drawn { markers, lines, steps, curves };

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x ascends unless only markers are drawn
    Drawn drawn = Drawn::markers;
    std::set<std::size_t> hollow = {};  // points with a hollow marker
};

/// A chart may be drawn for a column of a paper, of this many pixels: without title, subtitle and foot, which belong into the
/// caption, and with its legend above the plot. 0: it is a picture of its own.
using ColumnWidth = int;

struct XyChart {
    std::string title;
    std::string subtitle;
    Axis x;
    Axis y;
    std::vector<Series> series;       // at most most_series
    std::vector<Series> guides = {};  // grey lines with their names at the right end
    std::string foot = {};            // text below the chart
    ColumnWidth column = 0;
};

/// The axis is logarithmic if one bar would hide the others.
struct BarChart {
    std::string title;
    std::string subtitle;
    std::string label;  // of the values
    std::vector<std::string> rows;
    std::vector<std::string> series;                         // at most most_series
    std::vector<std::vector<std::optional<double>>> values;  // [row][series]
    std::optional<double> guide = {};                        // a line at this value
    bool stacked = false;  // the series of a row are pieces of one bar, with their sum behind it; spans are not drawn
    std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> spans = {};  // by row and series: from, to
    std::string foot = {};
    ColumnWidth column = 0;
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
    std::string foot = {};                                              // text below the legend
    ColumnWidth column = 0;  // its columns then have letters, which the legend explains
};

[[nodiscard]] PictureSize size_of(const XyChart& chart);
[[nodiscard]] PictureSize size_of(const BarChart& chart);
[[nodiscard]] PictureSize size_of(const HeatMap& chart);
void draw(Canvas& canvas, const XyChart& chart);
void draw(Canvas& canvas, const BarChart& chart);
void draw(Canvas& canvas, const HeatMap& chart);

/// An interval of values or of pixels.
struct AxisRange {
    double from = 0;
    double to = 0;
};

/// Maps the values of an axis to pixels, and chooses the values with marks.
class Scale {
public:
    /// The axis ends at the first marks outside of `values` unless it has ends of its own.
    Scale(const Axis& axis, AxisRange values, AxisRange pixels);

    [[nodiscard]] double at(double value) const;
    /// False for a value that is not positive on a logarithmic axis.
    [[nodiscard]] bool can_show(double value) const { return !logarithmic_ || value > 0; }
    [[nodiscard]] bool shows(double value) const;
    [[nodiscard]] const std::vector<double>& marks() const { return marks_; }

private:
    bool logarithmic_;
    double low_;
    double high_;
    AxisRange pixels_;
    std::vector<double> marks_;
};

/// The short text of a mark: 0.5, 20, 3k, 1e-5.
[[nodiscard]] std::string mark_text(double value);

}  // namespace workbench
