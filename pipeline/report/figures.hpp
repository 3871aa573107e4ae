// The figures of a matrix and of a kernel. Each is declared once: key, unit, value, and how views show it. The tables of the
// terminal, captions, legends and report.json are views of these lists; a test compares docs/report.md with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/matrix/metrics.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {

/// monostate: the figure has no value here.
using FigureValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<double>>;

/// The value at the end of a path of members; none if an optional on the way is empty.
template <typename Value, typename... Members>
FigureValue value_at(const Value& value, Members... path) {
    if constexpr (requires { value.has_value(); }) {
        return value ? value_at(*value, path...) : FigureValue();
    } else if constexpr (sizeof...(path) > 0) {
        return [&](auto member, auto... rest) { return value_at(value.*member, rest...); }(path...);
    } else if constexpr (std::is_same_v<Value, Interval>) {
        return std::vector<double>{value.low, value.high};
    } else if constexpr (std::is_integral_v<Value>) {
        return static_cast<std::int64_t>(value);
    } else {
        return value;
    }
}

/// A function that gets the value at a path.
template <typename... Members>
auto at(Members... path) {
    return [=](const auto& measured) { return value_at(measured, path...); };
}

/// How one view shows a figure.
struct Shown {
    std::string label = {};                             // empty: not at all; neighbours with one label share a cell
    std::string meaning = {};                           // in --legend, for it and those after it; empty: not there
    int place = 0;                                      // from left to right, if that is not the order of the list
    std::string (*text)(const FigureValue&) = nullptr;  // null: by type and unit
    bool always = false;                                // even if nothing has a value for it
    std::string legend = {};                            // the term in --legend; empty: the label
};

template <typename Measured>
struct Figure {
    std::string key = {};   // in report.json: "row_length.min", "x_lines[0].lines"; empty: it is only shown
    std::string unit = {};  // "share", "s", "bytes", ..., as in docs/report.md
    std::function<FigureValue(const Measured&)> value = {};  // empty: the key holds the figures below it
    bool (*there)(const Measured&) = nullptr;                // null: it always is
    Shown caption = {};                                      // `info` and the captions of pictures
    Shown table = {};                                        // the table of `run`
    Shown rows = {};                                         // `info --table`
    int telling = 0;                                         // rank on a contact sheet, 1 first; 0: not there
    bool more_is_better = false;
    bool of_whole =
        false;  // as if one layout stored the whole matrix, which says nothing once shares or tiles are stored apart
};

template <typename Measured>
using Figures = std::vector<Figure<Measured>>;

/// Lists of figures in one.
template <typename Measured>
[[nodiscard]] Figures<Measured> joined(std::initializer_list<Figures<Measured>> lists) {
    Figures<Measured> all;
    for (const Figures<Measured>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

[[nodiscard]] const Figures<Metrics>& metric_figures();
[[nodiscard]] const Figures<KernelOutcome>& kernel_figures();

/// The text of a value that exists.
[[nodiscard]] std::string text_of(const FigureValue& value, const Shown& shown, std::string_view unit);

/// The figures that a view shows under one label.
template <typename Measured>
struct FigureCell {
    Shown Figure<Measured>::*view;
    std::vector<const Figure<Measured>*> figures;

    [[nodiscard]] const Shown& shown() const { return figures.front()->*view; }

    [[nodiscard]] bool there(const Measured& measured) const {
        return figures.front()->there == nullptr || figures.front()->there(measured);
    }

    /// "-" if no figure has a value.
    [[nodiscard]] std::string text(const Measured& measured, std::string_view joint = " / ") const {
        std::string all;
        bool any = false;
        for (const Figure<Measured>* figure : figures) {
            const FigureValue value = figure->value(measured);
            const bool has = !std::holds_alternative<std::monostate>(value);
            any = any || has;
            all += std::string(figure == figures.front() ? "" : joint);
            all += has ? text_of(value, figure->*view, figure->unit) : "-";
        }
        return any ? all : "-";
    }
};

/// All that a view shows, in its order.
template <typename Measured>
[[nodiscard]] std::vector<FigureCell<Measured>> cells_of(const Figures<Measured>& figures, Shown Figure<Measured>::*view) {
    std::vector<FigureCell<Measured>> cells;
    for (const Figure<Measured>& figure : figures) {
        if ((figure.*view).label.empty()) continue;
        if (cells.empty() || cells.back().shown().label != (figure.*view).label) cells.push_back({view, {}});
        cells.back().figures.push_back(&figure);
    }
    std::stable_sort(cells.begin(), cells.end(),
                     [](const auto& a, const auto& b) { return a.shown().place < b.shown().place; });
    return cells;
}

/// Terms and their meanings.
template <typename Measured>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of(const std::vector<FigureCell<Measured>>& cells) {
    std::vector<std::pair<std::string, std::string>> legend;
    for (const FigureCell<Measured>& cell : cells) {
        const Shown& shown = cell.shown();
        if (!shown.meaning.empty()) legend.emplace_back(shown.legend.empty() ? shown.label : shown.legend, shown.meaning);
    }
    return legend;
}

// Texts of values that are not as usual.
[[nodiscard]] std::string spread(const FigureValue& value);       // see spread_text
[[nodiscard]] std::string thousandths(const FigureValue& value);  // 1.234
[[nodiscard]] std::string complete(const FigureValue& value);     // a share that is 100 % only if nothing is missing

}  // namespace workbench
