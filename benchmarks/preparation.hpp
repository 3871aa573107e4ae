// Matrices and recipes as short texts, for benchmarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The trimmed pieces between separators.
[[nodiscard]] std::vector<std::string> pieces_of(std::string_view text, char separator);

/// Stages with their settings, followed by the layout: "use, setting, ...; use, ...". Last "shares, a, b": these shares, in
/// csr.
[[nodiscard]] Recipe recipe_of(std::string_view preparation);

/// The matrix of a file, or of a generator: "KIND:NAME=VALUE,...".
[[nodiscard]] CsrMatrix matrix_of(const std::string& text);

}  // namespace workbench
