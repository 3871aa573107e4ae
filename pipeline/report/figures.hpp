// The figures of a matrix and of a kernel: each is named once, with its key, its unit, its words and how to get it. The tables
// of the terminal, captions, legends and report.json are views of these lists, and docs/report.md is compared with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/matrix/metrics.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {

/// monostate: the figure has no value here.
using FigureValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<double>>;

/// How one view shows a figure.
struct Shown {
    std::string label = {};                             // empty: not at all; neighbours of one label stand together
    std::string (*text)(const FigureValue&) = nullptr;  // of a value that is there; otherwise "-" is shown
    int place = 0;                                      // from left to right, where that is not the order of the list
    bool always = false;                                // even where nothing has a value for it
    std::string legend = {};                            // the term and its meaning in --legend, for it and those after it
    std::string meaning = {};
};

template <typename Measured>
struct Figure {
    std::string key = {};   // in report.json: "row_length.min", "x_lines[0].lines"; empty: it is only shown
    std::string type = {};  // as docs/report.md has it, with the unit: "integer", "number, share"
    std::string help = {};  // as docs/report.md has it
    std::function<FigureValue(const Measured&)> value = {};  // none: the key holds the figures below it
    bool (*there)(const Measured&) = nullptr;                // null: it always is
    Shown caption = {};                                      // `info` and the captions of pictures
    Shown table = {};                                        // the table of `run`
    Shown rows = {};                                         // `info --table`
    int telling = 0;                                         // rank on a contact sheet, 1 first; 0: not there
};

[[nodiscard]] const std::vector<Figure<Metrics>>& metric_figures();
[[nodiscard]] const std::vector<Figure<KernelOutcome>>& kernel_figures();

/// The figures that a view shows under one label.
template <typename Measured>
struct FigureCell {
    Shown Figure<Measured>::*view;
    std::vector<const Figure<Measured>*> figures;

    [[nodiscard]] const Shown& shown() const { return figures.front()->*view; }

    [[nodiscard]] bool there(const Measured& measured) const {
        return figures.front()->there == nullptr || figures.front()->there(measured);
    }

    /// "-" where no figure has a value.
    [[nodiscard]] std::string text(const Measured& measured, std::string_view joint = " / ") const {
        std::string all;
        bool any = false;
        for (const Figure<Measured>* figure : figures) {
            const FigureValue value = figure->value(measured);
            const bool has = !std::holds_alternative<std::monostate>(value);
            any = any || has;
            all += std::string(figure == figures.front() ? "" : joint) + (has ? (figure->*view).text(value) : "-");
        }
        return any ? all : "-";
    }
};

/// All that a view shows, in its order.
template <typename Measured>
[[nodiscard]] std::vector<FigureCell<Measured>> cells_of(const std::vector<Figure<Measured>>& figures,
                                                         Shown Figure<Measured>::*view) {
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

/// Label and meaning.
template <typename Measured>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of(const std::vector<FigureCell<Measured>>& cells) {
    std::vector<std::pair<std::string, std::string>> legend;
    for (const FigureCell<Measured>& cell : cells) {
        if (!cell.shown().legend.empty()) legend.emplace_back(cell.shown().legend, cell.shown().meaning);
    }
    return legend;
}

// Texts of values.
[[nodiscard]] std::string counted(const FigureValue& value);      // 1,234
[[nodiscard]] std::string plain(const FigureValue& value);        // 1234, or a text as it is
[[nodiscard]] std::string rounded(const FigureValue& value);      // three significant digits
[[nodiscard]] std::string thousandths(const FigureValue& value);  // 1.234
[[nodiscard]] std::string percent(const FigureValue& value);      // of a share: 12.3 %
[[nodiscard]] std::string complete(const FigureValue& value);     // of a share: 100 % only where nothing is missing
[[nodiscard]] std::string seconds(const FigureValue& value);      // 12.3 us
[[nodiscard]] std::string factor(const FigureValue& value);       // 1.23 x

}  // namespace workbench
