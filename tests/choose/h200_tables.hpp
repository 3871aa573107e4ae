// The stored times and predictions of recipes on an H200, and how well two lists of times agree.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "core/forecast/forecast.hpp"

namespace workbench {

struct Measured {
    double microseconds = 0;
    double preparation = 0;  // seconds
};

struct Predicted {
    double microseconds = 0;
    double least = 0;
    std::string unsuitable;
    std::string layouts;
    std::vector<LayoutCost> costs;  // what determines the time
};

/// By matrix and recipe.
template <typename Figures>
using Table = std::map<std::string, std::map<std::string, Figures>>;

inline std::vector<std::vector<std::string>> lines_of(const std::string& name) {
    std::ifstream file(std::filesystem::path(WORKBENCH_SOURCE_DIR) / "tests/choose" / name);
    std::vector<std::vector<std::string>> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream cells(line);
        lines.emplace_back();
        for (std::string cell; std::getline(cells, cell, '\t');) lines.back().push_back(cell);
    }
    return lines;
}

inline Table<Measured> measured_times() {
    Table<Measured> table;
    for (const auto& cells : lines_of("h200_times.tsv")) {
        table[cells.at(0)][cells.at(1)] = {std::stod(cells.at(2)), std::stod(cells.at(3))};
    }
    return table;
}

/// "bytes sectors launches chain bandwidth", separated by "; ".
inline std::vector<LayoutCost> costs_of_text(const std::string& text) {
    std::vector<LayoutCost> costs;
    std::istringstream words(text);
    LayoutCost cost;
    while (words >> cost.array_bytes >> cost.sectors >> cost.launches >> cost.chain >> cost.bandwidth) {
        costs.push_back(cost);
        words.ignore(1);  // the semicolon
    }
    return costs;
}

inline Table<Predicted> predicted_times() {
    Table<Predicted> table;
    for (const auto& cells : lines_of("h200_predictions.tsv")) {
        table[cells.at(0)][cells.at(1)] = {std::stod(cells.at(2)), std::stod(cells.at(3)), cells.at(5), cells.at(6),
                                           costs_of_text(cells.at(7))};
    }
    return table;
}

inline std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
    return ranks;
}

/// Spearman's rank correlation; the values of a list are distinct.
inline double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks_of(a);
    const std::vector<double> y = ranks_of(b);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
    const auto count = static_cast<double>(x.size());
    return 1 - 6 * squares / (count * (count * count - 1));
}

}  // namespace workbench
