// Runs recipes on their matrices, one matrix at a time.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/run/runner.hpp"

namespace workbench {

/// Groups recipes by matrix. All recipe files must name the same matrix, or sweep over the same matrices; throws RecipeError
/// otherwise.
void sort_by_matrix(std::vector<Recipe>& recipes);

/// The current matrix and its runner.
class MatrixRunner {
public:
    /// `recipes`: in the order of their runs, grouped by matrix; they must outlive this object.
    MatrixRunner(const std::vector<Recipe>& recipes, Devices devices, RunOptions options)
        : recipes_(recipes), devices_(devices), options_(std::move(options)) {}

    /// The runner for this recipe's matrix, which is read unless it is the current one. Throws InputError.
    Runner& operator()(const Recipe& recipe);

    [[nodiscard]] const MatrixReport& report() const { return report_; }

private:
    const std::vector<Recipe>& recipes_;
    Devices devices_;
    RunOptions options_;
    MatrixChoice choice_;
    CsrMatrix matrix_;
    MatrixReport report_;
    std::optional<Runner> runner_;
};

}  // namespace workbench
