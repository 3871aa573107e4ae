// The facts that editors of recipes need: the errors in a text, one by one, and the keys of tables that are in no catalogue.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/diagnostics.hpp"

namespace workbench {

struct CheckedText {
    std::vector<Recipe> points;           // empty if there are errors
    std::vector<RecipeProblem> problems;  // in the order in which they were found; line 0: of the whole text
    std::string message;                  // all errors as the terminal shows them
};

/// Like parse_points, but returns the errors instead of throwing RecipeError.
[[nodiscard]] CheckedText check_text(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                     const RecipeChanges& changes = {});

/// The keys of [recipe].
[[nodiscard]] std::vector<ParameterDeclaration> recipe_declarations();

/// The keys of [matrix] for a matrix that is not generated; the last is node_size, which generated ones also have.
[[nodiscard]] std::vector<ParameterDeclaration> matrix_declarations();

/// The keys of [kernel] about kernels in files beside the recipe.
[[nodiscard]] const std::vector<ParameterDeclaration>& source_parameters();

}  // namespace workbench
