// Charts as text, for tests that compare everything a chart shows.
#pragma once

#include <string>

#include <fmt/format.h>

#include "viz/chart.hpp"

namespace workbench {

inline std::string text_of_axis(const Axis& axis) {
    return fmt::format("{}{}{}{}", axis.label, axis.logarithmic ? ", logarithmic" : "",
                       axis.low ? fmt::format(", from {:.6g}", *axis.low) : "",
                       axis.high ? fmt::format(", to {:.6g}", *axis.high) : "");
}

inline std::string text_of_series(const Series& series) {
    std::string text = fmt::format("  [{}] {}:", static_cast<int>(series.drawn), series.name);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        text += fmt::format(" ({:.6g}, {:.6g}){}", series.points[i].first, series.points[i].second,
                            series.hollow.contains(i) ? " hollow" : "");
    }
    return text + '\n';
}

inline std::string text_of_chart(const XyChart& chart) {
    std::string text =
        fmt::format("{}\n  {}\n  x: {}\n  y: {}\n", chart.title, chart.subtitle, text_of_axis(chart.x), text_of_axis(chart.y));
    for (const Series& series : chart.series) text += text_of_series(series);
    for (const Series& guide : chart.guides) text += "  guide" + text_of_series(guide);
    return text + fmt::format("  foot: {}\n", chart.foot);
}

inline std::string text_of_values(const std::vector<std::optional<double>>& values) {
    std::string text;
    for (const std::optional<double>& value : values) text += value ? fmt::format(" {:.6g}", *value) : " -";
    return text;
}

inline std::string text_of_chart(const BarChart& chart) {
    std::string text = fmt::format(
        "{}\n  {}\n  {}{}{}\n  series: {}\n", chart.title, chart.subtitle, chart.label, chart.stacked ? ", stacked" : "",
        chart.guide ? fmt::format(", guide {:.6g}", *chart.guide) : "", fmt::join(chart.series, ", "));
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        text += fmt::format("  {}:{}\n", chart.rows[i], text_of_values(chart.values[i]));
    }
    for (const auto& [place, span] : chart.spans) {
        text += fmt::format("  span {} {}: {:.6g} to {:.6g}\n", place.first, place.second, span.first, span.second);
    }
    return text + fmt::format("  foot: {}\n", chart.foot);
}

inline std::string text_of_chart(const HeatMap& chart) {
    std::string text = fmt::format("{}\n  {}\n  rows: {}, columns: {}: {}\n", chart.title, chart.subtitle, chart.row_label,
                                   chart.column_label, fmt::join(chart.columns, ", "));
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        text += fmt::format("  {}:{}\n", chart.rows[i], text_of_values(chart.values[i]));
    }
    for (const auto& [row, column] : chart.without_colour) text += fmt::format("  without colour: {} {}\n", row, column);
    return text + fmt::format("  foot: {}\n", chart.foot);
}

}  // namespace workbench
