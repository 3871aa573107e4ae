#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "viz/chart.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

constexpr int margin = 24;
constexpr int title_size = 20;
constexpr int text_size = 15;
constexpr int small_size = 13;
constexpr int head = 108;  // title, subtitle and a label of an axis
constexpr int plot_width = 640;
constexpr int longest_legend = 240;
constexpr int key_width = 30;  // the piece of line before a name of the legend

void require_few(std::size_t series) {
    if (series > most_series) throw std::invalid_argument("more series than colours");
}

void draw_foot(Canvas& canvas, const std::string& foot, const ChartSize& size) {
    if (foot.empty()) return;
    canvas.text(margin, size.height - 20, shortened(foot, small_size, size.width - 2 * margin), {small_size, style::muted});
}

void draw_head(Canvas& canvas, const std::string& title, const std::string& subtitle, int width) {
    canvas.text(margin, margin + 14, shortened(title, title_size, width - 2 * margin), {title_size, style::ink});
    canvas.text(margin, margin + 37, shortened(subtitle, small_size, width - 2 * margin), {small_size, style::muted});
}

int widest(const std::vector<std::string>& texts, int size, int most) {
    int width = 0;
    for (const std::string& text : texts) width = std::max(width, text_width(text, size));
    return std::min(width, most);
}

void draw_key(Canvas& canvas, double x, double y, std::size_t series, bool line) {
    if (line) canvas.line(x, y, x + 22, y, series_colour(series), 2.5);
    canvas.marker(series_marker(series), x + 11, y, line ? 4.5 : 5, series_colour(series));
}

/// Names in the order of the series, at the right of the plot.
void draw_legend(Canvas& canvas, double x, double y, const std::vector<Series>& series) {
    for (std::size_t i = 0; i < series.size(); ++i) {
        draw_key(canvas, x, y + 22.0 * static_cast<double>(i), i, series[i].drawn != Drawn::markers);
        canvas.text(x + key_width, y + 5 + 22.0 * static_cast<double>(i), shortened(series[i].name, text_size, longest_legend),
                    {text_size, style::ink});
    }
}

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value, bool logarithmic) {
        if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    [[nodiscard]] bool empty() const { return low > high; }
};

/// Which points of a curve are marked: after so many pixels along it.
class CurveMarks {
public:
    explicit CurveMarks(std::size_t series) : next_(apart * static_cast<double>(series) / most_series) {}

    /// Asked for each point in turn.
    [[nodiscard]] bool here(double x, double y) {
        if (begun_) walked_ += std::hypot(x - x_, y - y_);
        begun_ = true;
        x_ = x;
        y_ = y;
        if (walked_ < next_) return false;
        while (next_ <= walked_) next_ += apart;
        return true;
    }

private:
    static constexpr double apart = 70;
    bool begun_ = false;
    double x_ = 0;
    double y_ = 0;
    double walked_ = 0;
    double next_;
};

void draw_series(Canvas& canvas, const Series& series, std::size_t number, const Scale& x, const Scale& y, bool log_x,
                 bool log_y) {
    const Colour colour = series_colour(number);
    const auto is_left_out = [&](const auto& point) { return (log_x && point.first <= 0) || (log_y && point.second <= 0); };
    const std::pair<double, double>* before = nullptr;
    for (const auto& point : series.points) {
        if (is_left_out(point)) continue;
        const double at_x = x.at(point.first);
        const double at_y = y.at(point.second);
        if (before != nullptr && series.drawn == Drawn::steps) {
            canvas.line(x.at(before->first), y.at(before->second), at_x, y.at(before->second), colour, 2.5);
            canvas.line(at_x, y.at(before->second), at_x, at_y, colour, 2.5);
        } else if (before != nullptr && series.drawn != Drawn::markers) {
            canvas.line(x.at(before->first), y.at(before->second), at_x, at_y, colour, 2.5);
        }
        before = &point;
    }
    if (series.drawn == Drawn::steps) return;
    CurveMarks marks(number);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        if (is_left_out(series.points[i])) continue;
        const double at_x = x.at(series.points[i].first);
        const double at_y = y.at(series.points[i].second);
        if (series.drawn == Drawn::curves && !marks.here(at_x, at_y)) continue;
        canvas.marker(series_marker(number), at_x, at_y, 4.5, colour);
        if (series.hollow.contains(i)) canvas.marker(series_marker(number), at_x, at_y, 2.7, white);
    }
}

int legend_width(const XyChart& chart) {
    std::vector<std::string> names;
    for (const Series& series : chart.series) names.push_back(series.name);
    return key_width + widest(names, text_size, longest_legend);
}

constexpr int xy_left = margin + 52;
constexpr int xy_height = 420;

int bar_height(const BarChart& chart) { return chart.series.size() > 3 ? 7 : 10; }
int row_height(const BarChart& chart) { return std::max(24, bar_height(chart) * static_cast<int>(chart.series.size()) + 10); }
int bar_left(const BarChart& chart) { return margin + widest(chart.rows, small_size, 260) + 10; }

constexpr int cell_height = 30;
int cell_width(const HeatMap& map) { return std::max(64, widest(map.columns, small_size, 150) + 14); }
int cells_left(const HeatMap& map) { return margin + std::max(widest(map.rows, small_size, 260), 20) + 10; }

/// The colour of a ratio: strongest at four times, and at a quarter.
Colour ratio_colour(double ratio) {
    constexpr Colour more{33, 102, 172};
    constexpr Colour less{224, 130, 20};
    const double doublings = std::clamp(std::log2(ratio), -2.0, 2.0);
    return mix(white, doublings >= 0 ? more : less, static_cast<int>(std::lround(std::abs(doublings) / 2 * 256)));
}

std::string ratio_text(double ratio) { return ratio >= 9.995 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.2f}", ratio); }

}  // namespace

ChartSize size_of(const XyChart& chart) {
    return {xy_left + plot_width + 24 + legend_width(chart) + margin, head + xy_height + 64};
}

void draw(Canvas& canvas, const XyChart& chart) {
    require_few(chart.series.size());
    Range x_range;
    Range y_range;
    for (const auto* list : {&chart.series, &chart.guides}) {
        for (const Series& series : *list) {
            for (const auto& [x, y] : series.points) {
                x_range.add(x, chart.x.logarithmic);
                y_range.add(y, chart.y.logarithmic);
            }
        }
    }
    if (x_range.empty() || y_range.empty()) x_range = y_range = {chart.x.logarithmic ? 1.0 : 0.0, 10};
    const double left = xy_left;
    const double right = left + plot_width;
    const double top = head;
    const double bottom = head + xy_height;
    const Scale x(chart.x, x_range.low, x_range.high, left, right);
    const Scale y(chart.y, y_range.low, y_range.high, bottom, top);

    draw_head(canvas, chart.title, chart.subtitle, size_of(chart).width);
    canvas.text(margin, head - 12, chart.y.label, {small_size, style::muted});
    for (const double mark : x.marks()) {
        canvas.line(x.at(mark), top, x.at(mark), bottom, style::hairline, 1);
        canvas.text(x.at(mark), bottom + 20, mark_text(mark), {small_size, style::muted, Align::centre});
    }
    for (const double mark : y.marks()) {
        canvas.line(left, y.at(mark), right, y.at(mark), style::hairline, 1);
        canvas.text(left - 8, y.at(mark) + 5, mark_text(mark), {small_size, style::muted, Align::right});
    }
    canvas.line(left, bottom, right, bottom, style::faint, 1);
    canvas.line(left, top, left, bottom, style::faint, 1);
    canvas.text((left + right) / 2, bottom + 44, chart.x.label, {small_size, style::muted, Align::centre});
    for (const Series& guide : chart.guides) {
        for (std::size_t i = 1; i < guide.points.size(); ++i) {
            canvas.line(x.at(guide.points[i - 1].first), y.at(guide.points[i - 1].second), x.at(guide.points[i].first),
                        y.at(guide.points[i].second), style::muted, 1.5);
        }
        if (guide.points.empty()) continue;
        canvas.text(x.at(guide.points.back().first) - 6, y.at(guide.points.back().second) - 7, guide.name,
                    {small_size, style::muted, Align::right});
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        draw_series(canvas, chart.series[i], i, x, y, chart.x.logarithmic, chart.y.logarithmic);
    }
    draw_legend(canvas, right + 24, top + 12, chart.series);
    draw_foot(canvas, chart.foot, size_of(chart));
}

ChartSize size_of(const BarChart& chart) {
    const int legend = key_width + widest(chart.series, text_size, longest_legend);
    const int rows = static_cast<int>(chart.rows.size());
    const int names = static_cast<int>(chart.series.size());
    return {bar_left(chart) + plot_width + 24 + legend + margin,
            head + std::max(rows * row_height(chart), names * 22 + 20) + 64};
}

void draw(Canvas& canvas, const BarChart& chart) {
    require_few(chart.series.size());
    Range range;
    range.add(0, false);
    if (chart.guide) range.add(*chart.guide, false);
    for (const auto& row : chart.values) {
        for (const std::optional<double>& value : row) {
            if (value) range.add(*value, false);
        }
    }
    // One wide span must not make all bars short: it ends at the edge.
    const double widest_span = 1.25 * range.high;
    for (const auto& [place, span] : chart.spans) range.add(std::min(span.second, widest_span), false);
    const double left = bar_left(chart);
    const double right = left + plot_width;
    const double bottom = head + static_cast<double>(chart.rows.size()) * row_height(chart);
    const Scale x({}, 0, range.high, left, right);
    draw_head(canvas, chart.title, chart.subtitle, size_of(chart).width);
    for (const double mark : x.marks()) {
        canvas.line(x.at(mark), head, x.at(mark), bottom, style::hairline, 1);
        canvas.text(x.at(mark), bottom + 20, mark_text(mark), {small_size, style::muted, Align::centre});
    }
    canvas.text((left + right) / 2, bottom + 44, chart.label, {small_size, style::muted, Align::centre});
    const double height = bar_height(chart);
    for (std::size_t row = 0; row < chart.rows.size(); ++row) {
        const double top = head + static_cast<double>(row) * row_height(chart);
        const double middle = top + row_height(chart) / 2.0;
        canvas.text(left - 10, middle + 5, shortened(chart.rows[row], small_size, 260), {small_size, style::ink, Align::right});
        const double bars = height * static_cast<double>(chart.series.size());
        for (std::size_t i = 0; i < chart.series.size(); ++i) {
            const std::optional<double>& value = chart.values[row][i];
            const double y = middle - bars / 2 + height * static_cast<double>(i);
            if (value) canvas.box(left, y, std::max(1.0, x.at(*value) - left), height - 1, series_colour(i));
            const auto span = chart.spans.find({row, i});
            if (span == chart.spans.end()) continue;
            const double middle_of_bar = y + (height - 1) / 2;
            canvas.line(std::min(x.at(span->second.first), right), middle_of_bar, std::min(x.at(span->second.second), right),
                        middle_of_bar, style::ink, 1.5);
        }
    }
    canvas.line(left, head, left, bottom, style::faint, 1);
    if (chart.guide) canvas.line(x.at(*chart.guide), head - 6, x.at(*chart.guide), bottom, style::ink, 1);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const double y = head + 12 + 22.0 * static_cast<double>(i);
        canvas.box(right + 24, y - 6, 22, 12, series_colour(i));
        canvas.text(right + 24 + key_width, y + 5, shortened(chart.series[i], text_size, longest_legend),
                    {text_size, style::ink});
    }
    draw_foot(canvas, chart.foot, size_of(chart));
}

ChartSize size_of(const HeatMap& chart) {
    const int rows = static_cast<int>(chart.rows.size());
    const int columns = static_cast<int>(chart.columns.size());
    return {std::max(560, cells_left(chart) + columns * cell_width(chart) + margin),
            head + 26 + rows * cell_height + margin + 30 + (chart.foot.empty() ? 0 : 18)};
}

void draw(Canvas& canvas, const HeatMap& chart) {
    draw_head(canvas, chart.title, chart.subtitle, size_of(chart).width);
    const double left = cells_left(chart);
    const double top = head + 26;
    if (!chart.row_label.empty()) {
        canvas.text(margin, head - 12, "down: " + chart.row_label + ", across: " + chart.column_label,
                    {small_size, style::muted});
    }
    for (std::size_t column = 0; column < chart.columns.size(); ++column) {
        canvas.text(left + (static_cast<double>(column) + 0.5) * cell_width(chart), top - 8,
                    shortened(chart.columns[column], small_size, cell_width(chart) - 6),
                    {small_size, style::ink, Align::centre});
    }
    for (std::size_t row = 0; row < chart.rows.size(); ++row) {
        const double y = top + static_cast<double>(row) * cell_height;
        canvas.text(left - 10, y + cell_height / 2.0 + 5, shortened(chart.rows[row], small_size, 260),
                    {small_size, style::ink, Align::right});
        for (std::size_t column = 0; column < chart.columns.size(); ++column) {
            const double x = left + static_cast<double>(column) * cell_width(chart);
            const std::optional<double>& value = chart.values[row][column];
            const bool plain = chart.without_colour.contains({row, column});
            if (!plain) {
                canvas.box(x + 1, y + 1, cell_width(chart) - 2, cell_height - 2,
                           value ? ratio_colour(*value) : style::hairline);
            }
            const bool dark = !plain && value && std::log2(*value) > 1.2;
            canvas.text(x + cell_width(chart) / 2.0, y + cell_height / 2.0 + 5, value ? ratio_text(*value) : "-",
                        {small_size,
                         dark    ? white
                         : plain ? style::muted
                                 : style::ink,
                         Align::centre});
        }
    }
    canvas.text(margin, top + static_cast<double>(chart.rows.size()) * cell_height + 26,
                "blue: faster than the baseline, orange: slower; strongest at 4 and 1/4", {small_size, style::muted});
    draw_foot(canvas, chart.foot, size_of(chart));
}

}  // namespace workbench
