// Recipes on the matrices that they name, one matrix at a time.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/run/runner.hpp"

namespace workbench {

/// Several recipes run on one matrix, or on those that all of them try; throws RecipeError where they name different ones. Puts
/// those of one matrix together.
void sort_by_matrix(std::vector<Recipe>& recipes);

/// The matrix that recipes run on at present, and the runner for it.
class MatrixRunner {
public:
    /// `recipes` in the order in which they will run, those of one matrix one after the other; they must outlive this.
    MatrixRunner(const std::vector<Recipe>& recipes, Devices devices, RunOptions options)
        : recipes_(recipes), devices_(devices), options_(std::move(options)) {}

    /// Reads or makes its matrix, unless it is there. Throws InputError where that cannot be.
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
