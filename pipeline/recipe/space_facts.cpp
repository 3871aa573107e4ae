#include <algorithm>
#include <cmath>

#include "core/contract/value_facts.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "pipeline/recipe/space_condition.hpp"

namespace workbench {
namespace {

constexpr Index most_sampled_rows = 100'000;

/// The fraction of rows that have the columns of the row before, by a sample of rows at equal distances.
double twin_rows_of(const CsrMatrix& matrix) {
    if (matrix.rows < 2) return 0;
    const Index step = 1 + (matrix.rows - 2) / most_sampled_rows;
    std::int64_t sampled = 0;
    std::int64_t twins = 0;
    for (std::int64_t row = 1; row < matrix.rows; row += step) {
        const auto columns = matrix.row_columns(static_cast<Index>(row));
        ++sampled;
        if (!columns.empty() && std::ranges::equal(columns, matrix.row_columns(static_cast<Index>(row - 1)))) ++twins;
    }
    return static_cast<double>(twins) / static_cast<double>(sampled);
}

/// The number of distinct values; if there are more than most_coded_values, one more than these.
double distinct_values_of(const CsrMatrix& matrix) {
    return static_cast<double>(value_facts(matrix, Precision::f64).distinct.value_or(most_coded_values + 1));
}

}  // namespace

const std::map<std::string, bool>& names_of_facts() {
    static const std::map<std::string, bool> names = {
        {"rows", false},        {"columns", false},   {"nonzeros", false},       {"node_size", false},  {"square", true},
        {"longest_row", false}, {"mean_row", false},  {"row_deviation", false},  {"empty_rows", false}, {"shortest_row", false},
        {"skew", false},        {"twin_rows", false}, {"distinct_values", false}};
    return names;
}

SpaceFacts facts_of(const CsrMatrix& matrix, Index node_size) {
    Offset longest = 0;
    Offset shortest = matrix.rows == 0 ? 0 : matrix.columns;
    std::int64_t empty = 0;
    double squares = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset length = matrix.row_length(row);
        longest = std::max(longest, length);
        shortest = std::min(shortest, length);
        empty += length == 0 ? 1 : 0;
        squares += static_cast<double>(length) * static_cast<double>(length);
    }
    const double rows = std::max<double>(matrix.rows, 1);
    const double mean = static_cast<double>(matrix.nonzeros()) / rows;
    return {{"rows", matrix.rows},
            {"columns", matrix.columns},
            {"nonzeros", static_cast<double>(matrix.nonzeros())},
            {"node_size", node_size},
            {"square", matrix.square() ? 1 : 0},
            {"longest_row", static_cast<double>(longest)},
            {"shortest_row", static_cast<double>(shortest)},
            {"mean_row", mean},
            {"row_deviation", std::sqrt(std::max(squares / rows - mean * mean, 0.0))},
            {"empty_rows", static_cast<double>(empty) / rows},
            {"skew", mean > 0 ? static_cast<double>(longest) / mean : 1},
            {"twin_rows", twin_rows_of(matrix)},
            {"distinct_values", distinct_values_of(matrix)}};
}

}  // namespace workbench
