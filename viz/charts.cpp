#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "viz/chart.hpp"
#include "viz/palette.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int margin = 24;
constexpr int bare_margin = 6;  // in a column of a paper
constexpr int title_size = 23;
constexpr int text_size = 17;
constexpr int small_size = 15;
constexpr int head = 108;        // the height of title, subtitle and the label of an axis
constexpr int plot_width = 640;  // of bars
constexpr int longest_legend = 240;
constexpr int longest_row_name = 260;
constexpr int legend_pitch = 24;
constexpr int foot_pitch = 20;
constexpr int key_width = 30;  // of the symbol before a name in the legend
constexpr TextStyle small_text{small_size, style::muted};
constexpr TextStyle centred_text{small_size, style::muted, Align::centre};
constexpr TextStyle row_name_text{small_size, style::ink, Align::right, longest_row_name};

void require_few(std::size_t series) {
    if (series > most_series) throw std::invalid_argument("more series than colours");
}

int margin_of(const auto& chart) { return chart.column > 0 ? bare_margin : margin; }

void draw_head(Canvas& canvas, const auto& chart) {
    if (chart.column > 0) return;
    const int width = size_of(chart).width - 2 * margin;
    canvas.text(margin, margin + 14, chart.title, {title_size, style::ink, Align::left, width});
    canvas.text(margin, margin + 37, chart.subtitle, {small_size, style::muted, Align::left, width});
}

/// The lines below the labels of an axis.
std::vector<std::string> foot_lines(const auto& chart, int width) {
    constexpr std::size_t most_lines = 4;
    return chart.foot.empty() || chart.column > 0 ? std::vector<std::string>{}
                                                  : wrapped(chart.foot, small_size, width - 2 * margin, most_lines);
}

/// The size of a chart with its foot.
PictureSize with_foot(const auto& chart, PictureSize without) {
    const auto lines = static_cast<int>(foot_lines(chart, without.width).size());
    return {without.width, without.height + lines * foot_pitch};
}

void draw_foot(Canvas& canvas, const auto& chart) {
    const PictureSize size = size_of(chart);
    const std::vector<std::string> lines = foot_lines(chart, size.width);
    int baseline = size.height - 20 - static_cast<int>(lines.size()) * foot_pitch;
    for (const std::string& line : lines) canvas.text(margin, baseline += foot_pitch, line, {small_size, style::muted});
}

int widest(const std::vector<std::string>& texts, int size, int most) {
    int width = 0;
    for (const std::string& text : texts) width = std::max(width, text_width(text, size));
    return std::min(width, most);
}

struct PlotArea {
    double left = 0;
    double right = 0;
    double top = 0;
    double bottom = 0;
};

/// The marks of the horizontal axis, with a vertical line each.
void draw_horizontal_marks(Canvas& canvas, const PlotArea& plot, const Scale& x) {
    for (const double mark : x.marks()) {
        canvas.line({x.at(mark), plot.top}, {x.at(mark), plot.bottom}, style::hairline, 1);
        canvas.text(x.at(mark), plot.bottom + 20, mark_text(mark), centred_text);
    }
}

void draw_horizontal_label(Canvas& canvas, const auto& chart, const PlotArea& plot, const std::string& label) {
    const double rightmost = size_of(chart).width - text_width(label, small_size) / 2.0;
    canvas.text(std::min((plot.left + plot.right) / 2, rightmost), plot.bottom + 44, label, centred_text);
}

/// The most width of a name in the legend: of the column, if there is one.
int longest_name(const auto& chart) { return chart.column > 0 ? chart.column - 2 * bare_margin - key_width : longest_legend; }

std::vector<std::string> names_of(const std::vector<Series>& series) {
    std::vector<std::string> names;
    for (const Series& one : series) names.push_back(one.name);
    return names;
}

std::vector<std::string> names_of(const BarChart& chart) { return chart.series; }
std::vector<std::string> names_of(const XyChart& chart) { return names_of(chart.series); }
std::vector<std::string> names_of(const HeatMap& chart);

/// The places of the symbols of the legend above a plot in a column, line by line.
std::vector<Point> legend_places(const auto& chart) {
    std::vector<Point> places;
    Point next{bare_margin, 14};
    for (const std::string& name : shortened(names_of(chart), text_size, longest_name(chart))) {
        const int width = key_width + text_width(name, text_size) + 18;
        if (!places.empty() && next.x + width > chart.column) next = {bare_margin, next.y + legend_pitch};
        places.push_back(next);
        next.x += width;
    }
    return places;
}

/// The height of the title above a plot, or in a column of the legend. has_label: the vertical axis has one.
int head_of(const auto& chart, bool has_label) {
    if (chart.column == 0) return head;
    const std::vector<Point> places = legend_places(chart);
    const bool has_legend = places.size() > 1;
    return (has_legend ? static_cast<int>(places.back().y) + 16 : 4) + (has_label ? legend_pitch : 4);
}

/// The series at the right of the plot, or above it: draw_key(number, place) draws a symbol.
void draw_legend(Canvas& canvas, const auto& chart, Point beside, const auto& draw_key) {
    const std::vector<std::string> names = shortened(names_of(chart), text_size, longest_name(chart));
    if (chart.column > 0 && names.size() < 2) return;
    const std::vector<Point> above = legend_places(chart);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Point at = chart.column > 0 ? above[i] : Point{beside.x, beside.y + legend_pitch * static_cast<double>(i)};
        draw_key(i, at);
        canvas.text(at.x + key_width, at.y + 5, names[i], {text_size, style::ink, Align::left, longest_name(chart)});
    }
}

/// The range of the values that an axis can show.
struct ShownRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value, bool logarithmic) {
        if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    [[nodiscard]] bool empty() const { return low > high; }
};

/// Chooses the points of a curve that get a marker, at equal distances in pixels.
class CurveMarks {
public:
    explicit CurveMarks(std::size_t series) : next_(apart * static_cast<double>(series) / most_series) {}

    /// Must be called for each point in order.
    [[nodiscard]] bool here(Point point) {
        if (begun_) walked_ += std::hypot(point.x - before_.x, point.y - before_.y);
        begun_ = true;
        before_ = point;
        if (walked_ < next_) return false;
        while (next_ <= walked_) next_ += apart;
        return true;
    }

private:
    static constexpr double apart = 70;
    bool begun_ = false;
    Point before_;
    double walked_ = 0;
    double next_;
};

struct Scales {
    const Scale& x;
    const Scale& y;

    [[nodiscard]] bool can_show(const std::pair<double, double>& point) const {
        return x.can_show(point.first) && y.can_show(point.second);
    }
    [[nodiscard]] Point at(const std::pair<double, double>& point) const { return {x.at(point.first), y.at(point.second)}; }
};

void draw_series(Canvas& canvas, const Series& series, std::size_t number, const Scales& scales) {
    const Colour colour = series_colour(number);
    std::optional<Point> before;
    for (const auto& point : series.points) {
        if (!scales.can_show(point)) continue;
        const Point at = scales.at(point);
        if (before && series.drawn == Drawn::steps) {
            canvas.line(*before, {at.x, before->y}, colour, 2.5);
            canvas.line({at.x, before->y}, at, colour, 2.5);
        } else if (before && series.drawn != Drawn::markers) {
            canvas.line(*before, at, colour, 2.5);
        }
        before = at;
    }
    if (series.drawn == Drawn::steps) return;
    CurveMarks marks(number);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        if (!scales.can_show(series.points[i])) continue;
        const Point at = scales.at(series.points[i]);
        if (series.drawn == Drawn::curves && !marks.here(at)) continue;
        canvas.marker(series_marker(number), at, 4.5, colour);
        if (series.hollow.contains(i)) canvas.marker(series_marker(number), at, 2.7, white);
    }
}

void draw_guide(Canvas& canvas, const Series& guide, const Scales& scales) {
    for (std::size_t i = 1; i < guide.points.size(); ++i) {
        canvas.line(scales.at(guide.points[i - 1]), scales.at(guide.points[i]), style::muted, 1.5);
    }
}

/// The name of a guide, at its end or at the next place along it, on either side, where it covers no point of a series.
void draw_guide_name(Canvas& canvas, const XyChart& chart, const Series& guide, const Scales& scales, const PlotArea& plot) {
    if (guide.name.empty()) return;
    const Point begin = scales.at(guide.points.front());
    const Point end = scales.at(guide.points.back());
    const bool is_vertical = begin.x == end.x;
    // Above a plot in a column is the label of the vertical axis.
    const double baseline = chart.column > 0 && is_vertical ? std::max(begin.y, end.y) - 8 : end.y - 7;
    const double width = text_width(guide.name, small_size);
    const auto covers = [&](Point name) {
        const auto has_mark_at_name = [&](const auto& point) {
            const Point mark = scales.can_show(point) ? scales.at(point) : Point{-1e9, 0};
            return std::abs(mark.x - name.x + width / 2) < width / 2 + 6 && std::abs(mark.y - name.y + 5) < 14;
        };
        const auto has_mark = [&](const Series& series) { return std::ranges::any_of(series.points, has_mark_at_name); };
        return name.x - width < plot.left || name.x > plot.right || std::ranges::any_of(chart.series, has_mark);
    };
    Point place{end.x - 6, baseline};
    for (int i = 1; i < 8 && covers(place); ++i) {
        const int quarters = i / 2;
        const bool beside = i % 2 == 1;
        place = {end.x - 6 + 0.25 * quarters * (begin.x - end.x) + (beside ? width + 12 : 0),
                 baseline + 0.25 * quarters * (begin.y - end.y) + (beside && !is_vertical ? 25 : 0)};
    }
    canvas.text(place.x, place.y, guide.name, {small_size, style::muted, Align::right});
}

int legend_width(const XyChart& chart) { return key_width + widest(names_of(chart.series), text_size, longest_legend); }

constexpr int xy_width = 1280;   // of the picture, which is 16:9
constexpr int axis_height = 64;  // of the marks and the label below a plot

/// The plot of a chart, whose foot is below it.
PlotArea plot_of(const XyChart& chart) {
    const PictureSize size = size_of(chart);
    const int beside = chart.column > 0 ? bare_margin + 10 : margin + legend_width(chart) + 24;
    const auto foot = static_cast<int>(foot_lines(chart, size.width).size()) * foot_pitch;
    return {static_cast<double>(margin_of(chart) + (chart.column > 0 ? 46 : 52)), static_cast<double>(size.width - beside),
            static_cast<double>(head_of(chart, true)), static_cast<double>(size.height - axis_height - foot)};
}

int bars_of_row(const BarChart& chart) { return chart.stacked ? 1 : static_cast<int>(chart.series.size()); }
int bar_height(const BarChart& chart) { return chart.stacked ? 16 : chart.series.size() > 3 ? 7 : 10; }
int row_height(const BarChart& chart) { return std::max(24, bar_height(chart) * bars_of_row(chart) + 10); }
/// The most width of the name of a row.
int most_name(const auto& chart) {
    return std::min(longest_row_name, chart.column > 0 ? chart.column * 9 / 20 : longest_row_name);
}

int bar_left(const BarChart& chart) { return margin_of(chart) + widest(chart.rows, small_size, most_name(chart)) + 10; }

/// True if the longest bar is so much longer than half of the others that those could not be told apart.
bool is_logarithmic(const BarChart& chart) {
    constexpr double too_long = 40;
    std::vector<double> values;
    for (const auto& row : chart.values) {
        for (const std::optional<double>& value : row) {
            if (value && *value > 0) values.push_back(*value);
        }
    }
    if (chart.stacked || values.size() < 3) return false;
    std::ranges::sort(values);
    return values.back() > too_long * values[values.size() / 2];
}

/// From 0, or from the lowest value, to the highest.
Scale bar_scale(const BarChart& chart, const PlotArea& plot) {
    const bool logarithmic = is_logarithmic(chart);
    ShownRange range;
    range.add(0, logarithmic);
    if (chart.guide) range.add(*chart.guide, false);
    for (const auto& row : chart.values) {
        double before = 0;
        for (const std::optional<double>& value : row) {
            if (value) range.add(before + *value, false);
            if (chart.stacked) before += value.value_or(0);
        }
    }
    if (logarithmic) {
        for (const auto& row : chart.values) {
            for (const std::optional<double>& value : row) range.add(value.value_or(0), true);
        }
        const double low = range.low / 1.01;  // the shortest bar is visible
        return {{.label = "", .logarithmic = true}, {low, range.high}, {plot.left, plot.right}};
    }
    if (chart.stacked) range.add(1.1 * range.high, false);  // space for the sums
    // A span that is much wider than the others is cut at the edge, so that it does not shorten all bars.
    const double widest_span = 1.25 * range.high;
    for (const auto& [place, span] : chart.spans) range.add(std::min(span.second, widest_span), false);
    return {{}, {0, range.high}, {plot.left, plot.right}};
}

/// One bar of all series, with their sum behind it.
void draw_stack(Canvas& canvas, const BarChart& chart, std::size_t row, double middle, const Scale& x) {
    double sum = 0;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const double left = x.at(sum);
        sum += chart.values[row][i].value_or(0);
        canvas.box({left, middle - bar_height(chart) / 2.0, x.at(sum) - left, static_cast<double>(bar_height(chart))},
                   series_colour(i));
    }
    const std::string text = sum < 1000 ? fmt::format("{:.3g}", sum) : with_commas(static_cast<Offset>(std::llround(sum)));
    canvas.text(x.at(sum) + 6, middle + 5, text, small_text);
}

void draw_bars(Canvas& canvas, const BarChart& chart, std::size_t row, const std::string& name, const PlotArea& plot,
               const Scale& x) {
    const double height = bar_height(chart);
    const double middle = plot.top + static_cast<double>(row) * row_height(chart) + row_height(chart) / 2.0;
    canvas.text(plot.left - 10, middle + 5, name, row_name_text);
    if (chart.stacked) return draw_stack(canvas, chart, row, middle, x);
    const double bars = height * static_cast<double>(chart.series.size());
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const std::optional<double>& value = chart.values[row][i];
        const double y = middle - bars / 2 + height * static_cast<double>(i);
        if (value && x.can_show(*value))
            canvas.box({plot.left, y, std::max(1.0, x.at(*value) - plot.left), height - 1}, series_colour(i));
        const auto span = chart.spans.find({row, i});
        if (span == chart.spans.end() || !x.can_show(span->second.first)) continue;
        const auto [from, to] = span->second;
        const double middle_of_bar = y + (height - 1) / 2;
        canvas.line({std::clamp(x.at(from), plot.left, plot.right), middle_of_bar},
                    {std::min(x.at(to), plot.right), middle_of_bar}, style::ink, 1.5);
    }
}

constexpr int cell_height = 30;
int cells_left(const HeatMap& map) { return margin_of(map) + std::max(widest(map.rows, small_size, most_name(map)), 20) + 10; }
int cell_width(const HeatMap& map) {
    if (map.column == 0) return std::max(64, widest(map.columns, small_size, 150) + 14);
    return (map.column - cells_left(map) - bare_margin) / std::max(1, static_cast<int>(map.columns.size()));
}

/// In a column, where the names of the columns do not fit.
bool has_letters(const HeatMap& map) {
    return map.column > 0 && map.columns.size() > 1 && widest(map.columns, small_size, longest_legend) > cell_width(map) - 6;
}
std::vector<std::string> names_of(const HeatMap& map) { return has_letters(map) ? map.columns : std::vector<std::string>{}; }

/// The colours saturate at a ratio of 4 and of 1/4.
Colour ratio_colour(double ratio) {
    const Colour more = hues[0].colour;
    const Colour less = hues[1].colour;
    const double doublings = std::clamp(std::log2(ratio), -2.0, 2.0);
    return mix(white, doublings >= 0 ? more : less, static_cast<int>(std::lround(std::abs(doublings) / 2 * 256)));
}

std::string ratio_text(double ratio) { return ratio >= 9.995 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.2f}", ratio); }

/// `coloured`: false leaves the background white.
void draw_ratio(Canvas& canvas, const std::optional<double>& ratio, bool coloured, const Rectangle& cell) {
    const Colour background = ratio ? ratio_colour(*ratio) : style::hairline;
    if (coloured) canvas.box({cell.x + 1, cell.y + 1, cell.width - 2, cell.height - 2}, background);
    const Colour ink = coloured ? text_on(background) : style::muted;
    canvas.text(cell.x + cell.width / 2, cell.y + cell.height / 2 + 5, ratio ? ratio_text(*ratio) : "-",
                {small_size, ink, Align::centre});
}

}  // namespace

PictureSize size_of(const XyChart& chart) {
    if (chart.column == 0) return {xy_width, height_of(xy_width)};
    return {chart.column, head_of(chart, true) + chart.column / 2 + axis_height};
}

void draw(Canvas& canvas, const XyChart& chart) {
    require_few(chart.series.size());
    ShownRange x_range;
    ShownRange y_range;
    for (const auto* list : {&chart.series, &chart.guides}) {
        for (const Series& series : *list) {
            for (const auto& [x, y] : series.points) {
                x_range.add(x, chart.x.logarithmic);
                y_range.add(y, chart.y.logarithmic);
            }
        }
    }
    if (x_range.empty() || y_range.empty()) x_range = y_range = {0, 10};
    const PlotArea plot = plot_of(chart);
    const Scale x(chart.x, {x_range.low, x_range.high}, {plot.left, plot.right});
    const Scale y(chart.y, {y_range.low, y_range.high}, {plot.bottom, plot.top});

    draw_head(canvas, chart);
    canvas.text(margin_of(chart), plot.top - 12, chart.y.label, small_text);
    draw_horizontal_marks(canvas, plot, x);
    for (const double mark : y.marks()) {
        canvas.line({plot.left, y.at(mark)}, {plot.right, y.at(mark)}, style::hairline, 1);
        canvas.text(plot.left - 8, y.at(mark) + 5, mark_text(mark), {small_size, style::muted, Align::right});
    }
    canvas.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, style::faint, 1);
    canvas.line({plot.left, plot.top}, {plot.left, plot.bottom}, style::faint, 1);
    draw_horizontal_label(canvas, chart, plot, chart.x.label);
    for (const Series& guide : chart.guides) draw_guide(canvas, guide, {x, y});
    for (std::size_t i = 0; i < chart.series.size(); ++i) draw_series(canvas, chart.series[i], i, {x, y});
    for (const Series& guide : chart.guides) draw_guide_name(canvas, chart, guide, {x, y}, plot);
    draw_legend(canvas, chart, {plot.right + 24, plot.top + 12}, [&](std::size_t i, Point at) {
        const bool line = chart.series[i].drawn != Drawn::markers;
        if (line) canvas.line(at, {at.x + 22, at.y}, series_colour(i), 2.5);
        canvas.marker(series_marker(i), {at.x + 11, at.y}, line ? 4.5 : 5, series_colour(i));
    });
    draw_foot(canvas, chart);
}

PictureSize size_of(const BarChart& chart) {
    const int legend = key_width + widest(chart.series, text_size, longest_legend);
    const int rows = static_cast<int>(chart.rows.size()) * row_height(chart);
    if (chart.column > 0) return {chart.column, head_of(chart, false) + rows + axis_height};
    const int names = static_cast<int>(chart.series.size()) * legend_pitch + 20;
    return with_foot(chart, {bar_left(chart) + plot_width + 24 + legend + margin, head + std::max(rows, names) + axis_height});
}

void draw(Canvas& canvas, const BarChart& chart) {
    require_few(chart.series.size());
    const double left = bar_left(chart);
    const double right = chart.column > 0 ? chart.column - bare_margin - (chart.stacked ? 50 : 14) : left + plot_width;
    const double top = head_of(chart, false);
    const PlotArea plot{left, right, top, top + static_cast<double>(chart.rows.size()) * row_height(chart)};
    const Scale x = bar_scale(chart, plot);
    draw_head(canvas, chart);
    draw_horizontal_marks(canvas, plot, x);
    draw_horizontal_label(canvas, chart, plot, chart.label + (is_logarithmic(chart) ? ", logarithmic" : ""));
    const std::vector<std::string> names = shortened(chart.rows, small_size, most_name(chart));
    for (std::size_t row = 0; row < names.size(); ++row) draw_bars(canvas, chart, row, names[row], plot, x);
    canvas.line({left, plot.top}, {left, plot.bottom}, style::faint, 1);
    if (chart.guide) canvas.line({x.at(*chart.guide), plot.top - 6}, {x.at(*chart.guide), plot.bottom}, style::ink, 1);
    draw_legend(canvas, chart, {plot.right + 24, plot.top + 12}, [&](std::size_t i, Point at) {
        canvas.box({at.x, at.y - 6, 22, 12}, series_colour(i));
    });
    draw_foot(canvas, chart);
}

/// What the rows and columns of a map are, in lines; none if their names say it.
std::vector<std::string> label_lines(const HeatMap& chart) {
    if (chart.row_label.empty()) return {};
    const std::string label = "down: " + chart.row_label + ", across: " + chart.column_label;
    return chart.column > 0 ? wrapped(label, small_size, chart.column - 2 * bare_margin, 2) : std::vector<std::string>{label};
}

/// The height above the cells.
int head_of_map(const HeatMap& chart) {
    return chart.column > 0 ? head_of(chart, true) + static_cast<int>(label_lines(chart).size()) * foot_pitch : head + 26;
}

PictureSize size_of(const HeatMap& chart) {
    const int rows = static_cast<int>(chart.rows.size());
    const int columns = static_cast<int>(chart.columns.size());
    if (chart.column > 0) return {chart.column, head_of_map(chart) + rows * cell_height + bare_margin};
    return with_foot(chart, {std::max(640, cells_left(chart) + columns * cell_width(chart) + margin),
                             head + 26 + rows * cell_height + margin + 30});
}

void draw(Canvas& canvas, const HeatMap& chart) {
    draw_head(canvas, chart);
    const double left = cells_left(chart);
    const double top = head_of_map(chart);
    const double width = cell_width(chart);
    const std::vector<std::string> labels = label_lines(chart);
    double label_baseline = (chart.column > 0 ? top - 30 : head - 12) - static_cast<double>(labels.size()) * foot_pitch;
    for (const std::string& line : labels) {
        canvas.text(margin_of(chart), label_baseline += foot_pitch, line, small_text);
    }
    std::vector<std::string> columns = shortened(chart.columns, small_size, cell_width(chart) - 6);
    if (has_letters(chart)) {
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = std::string(1, static_cast<char>('a' + i % 26));
        draw_legend(canvas, chart, {},
                    [&](std::size_t i, Point at) { canvas.text(at.x + 8, at.y + 5, columns[i], small_text); });
    }
    const std::vector<std::string> rows = shortened(chart.rows, small_size, most_name(chart));
    for (std::size_t column = 0; column < chart.columns.size(); ++column) {
        canvas.text(left + (static_cast<double>(column) + 0.5) * width, top - 8, columns[column],
                    {small_size, style::ink, Align::centre, cell_width(chart) - 6});
    }
    for (std::size_t row = 0; row < chart.rows.size(); ++row) {
        const double y = top + static_cast<double>(row) * cell_height;
        canvas.text(left - 10, y + cell_height / 2.0 + 5, rows[row], row_name_text);
        for (std::size_t column = 0; column < chart.columns.size(); ++column) {
            draw_ratio(canvas, chart.values[row][column], !chart.without_colour.contains({row, column}),
                       {left + static_cast<double>(column) * width, y, width, cell_height});
        }
    }
    if (chart.column > 0) return;
    canvas.text(margin, top + static_cast<double>(chart.rows.size()) * cell_height + 26,
                "blue: faster than the baseline, orange: slower; strongest at 4 and 1/4", small_text);
    draw_foot(canvas, chart);
}

}  // namespace workbench
