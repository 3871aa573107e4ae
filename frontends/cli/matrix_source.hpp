// Reads or generates the matrix chosen by a command line or recipe.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "core/matrix/row_range.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

/// Throws RecipeError if no matrix was chosen, InputError if it cannot be read or generated.
[[nodiscard]] std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixChoice& choice);

/// A matrix whose rows can be read or generated independently.
struct MatrixRows {
    Index rows = 0;
    std::function<CsrMatrix(RowRange)> read;  // throws like load_matrix
};

/// nullopt if only the whole matrix can be read or generated. Sets report.source. Throws like load_matrix.
[[nodiscard]] std::optional<MatrixRows> open_matrix_rows(const MatrixChoice& choice, MatrixReport& report);

}  // namespace workbench
