// A page about a search: its tree, times against prices, and the model against measurements.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/choose/choose.hpp"

namespace workbench {

/// The data of the page as JSON, like choice_json. `command`: the command line shown on the page; may be empty.
[[nodiscard]] std::string search_document(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                          const std::string& command);

/// The page, as HTML with its data.
[[nodiscard]] std::string search_page(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                      const std::string& command);

/// Spearman's rank correlation, with mean ranks for equal values; none for fewer than three pairs, or if all values are equal.
[[nodiscard]] std::optional<double> rank_correlation_of(const std::vector<std::pair<double, double>>& pairs);

}  // namespace workbench
