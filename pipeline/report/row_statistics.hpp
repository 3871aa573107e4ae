// The row lengths of several matrices side by side.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/report.hpp"

namespace workbench {

struct MeasuredMatrix {
    MatrixReport matrix;
    Metrics metrics;
};

/// A table with a row per matrix: the columns of PELLR's table 1 (rows, nonzeros, mean and deviation of the row lengths,
/// range), both extremes, the iterations of eq. 1 with ELL, ELLPACK-R and PELLR, and the work of eq. 2.
[[nodiscard]] std::string row_statistics_text(const std::vector<MeasuredMatrix>& matrices);

/// The columns' labels with their meanings.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of_row_statistics();

/// {"matrices": [...]}, each as in `info --json`.
[[nodiscard]] std::string to_json(const std::vector<MeasuredMatrix>& matrices);

}  // namespace workbench
