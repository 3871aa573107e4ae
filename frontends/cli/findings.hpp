// The errors that `check` finds, in the forms that editors and CI read.
#pragma once

#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct Finding {
    bool is_error = true;  // otherwise a note
    LocatedProblem problem;
};

/// The errors of a recipe, each with its place if it is known; otherwise one error about `file`.
[[nodiscard]] std::vector<Finding> findings_of(const RecipeError& error, const std::string& file);

/// One line: [{"file", "line", "column", "severity": "error" or "note", "message"}]. Line 0: the whole file.
[[nodiscard]] std::string json_line(const std::vector<Finding>& findings);

/// A line for each finding that GitHub's CI shows beside the file's line: "::error file=F,line=L,col=C::MESSAGE".
[[nodiscard]] std::string github_lines(const std::vector<Finding>& findings);

}  // namespace workbench
