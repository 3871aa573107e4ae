// The matrix that a command line or a recipe chooses.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "pipeline/matrix/row_range.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

/// Reads or makes the matrix. Throws RecipeError where none was chosen, InputError where it cannot be read or made.
[[nodiscard]] std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixChoice& choice);

/// A matrix of which some rows can be read or made without the others.
struct MatrixRows {
    Index rows = 0;
    std::function<CsrMatrix(RowRange)> read;  // throws as load_matrix does
};

/// None where only the whole can be read or made. Fills the report's source. Throws as load_matrix does.
[[nodiscard]] std::optional<MatrixRows> open_matrix_rows(const MatrixChoice& choice, MatrixReport& report);

}  // namespace workbench
