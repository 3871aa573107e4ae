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

/// A row a matrix: the columns of PELLR's table 1 (rows, nonzeros, mean and deviation of the row lengths, largest less
/// smallest), both extremes, the iterations of eq. 1 with ELL, with ELLPACK-R and with PELLR, and the work of eq. 2.
[[nodiscard]] std::string row_statistics_text(const std::vector<MeasuredMatrix>& matrices);

/// What the columns mean, as label and meaning.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of_row_statistics();

/// {"matrices": [...]}, each as `info --json` says one.
[[nodiscard]] std::string to_json(const std::vector<MeasuredMatrix>& matrices);

}  // namespace workbench
