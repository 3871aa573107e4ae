#include "pipeline/run/row_statistics.hpp"

#include "pipeline/run/text_table.hpp"

namespace workbench {
namespace {

/// All warps of 32 rows as long as the longest row of the matrix.
Offset ell_warp_iterations(const Metrics& metrics) {
    return (static_cast<Offset>(metrics.rows) + 31) / 32 * metrics.row_lengths.maximum;
}

}  // namespace

std::string row_statistics_text(const std::vector<MeasuredMatrix>& matrices) {
    TextTable table;
    table.header = {"matrix", "rows", "nonzeros", "row mean",       "deviation",       "max-min",
                    "min",    "max",  "work Np",  "ELL iterations", "ELLR iterations", "PELLR iterations"};
    for (const auto& [matrix, metrics] : matrices) {
        const RowLengths& lengths = metrics.row_lengths;
        table.rows.push_back({matrix.source, with_commas(matrix.rows), with_commas(matrix.nonzeros), significant(lengths.mean),
                              significant(lengths.standard_deviation), with_commas(lengths.maximum - lengths.minimum),
                              with_commas(lengths.minimum), with_commas(lengths.maximum), with_commas(metrics.warp_work),
                              with_commas(ell_warp_iterations(metrics)), with_commas(metrics.warp_iterations),
                              with_commas(metrics.sorted_warp_iterations)});
    }
    return table.text();
}

std::vector<std::pair<std::string, std::string>> legend_of_row_statistics() {
    return {
        {"row mean, deviation", "mean and standard deviation of the nonzeros in a row"},
        {"max-min, min, max", "of the nonzeros in a row"},
        {"work Np", "sum over the rows of 2 length - 1, PELLR eq. 2"},
        {"ELL iterations", "warps of 32 rows times the longest row"},
        {"ELLR iterations", "sum over the warps of their longest row, PELLR eq. 1"},
        {"PELLR iterations", "the same after all rows are sorted by length: the least of any order"},
    };
}

}  // namespace workbench
