// A page about a search: its tree, times against prices, and the model against measurements.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "studies/choose/choose.hpp"
#include "viz/chart.hpp"

namespace workbench {

/// HTML with SVG, without scripts. `command`: the command line shown on the page; may be empty.
[[nodiscard]] std::string search_page(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                      const std::string& command);

/// Points (price, time) such that no other recipe is both faster and cheaper, by price.
[[nodiscard]] std::vector<std::pair<double, double>> pareto_frontier(std::vector<std::pair<double, double>> points);

/// Spearman's rank correlation, with mean ranks for equal values; none for fewer than three pairs, or if all values are equal.
[[nodiscard]] std::optional<double> rank_correlation_of(const std::vector<std::pair<double, double>>& pairs);

}  // namespace workbench
