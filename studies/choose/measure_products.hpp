// Measures products of known cost, to which a calibration is fitted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/runner.hpp"
#include "studies/choose/calibration.hpp"

namespace workbench {

struct MeasureOptions {
    std::vector<Backend> backends;  // of one kind of device
    double budget_seconds = 40;     // the recipe running when it expires is finished
    TimingOptions timing = {};
    std::function<void(const std::string&)> progress = {};  // called before each recipe; may throw Stopped
};

/// Recipes of the plain layouts, whose stages can be foreseen.
[[nodiscard]] std::vector<Recipe> calibration_recipes(const Catalogue& catalogue);

/// Generated matrices, as generated_matrix reads them, of about this number of nonzeros: a tiny one, whose product takes little
/// more than its launch; grids; a grid in random order; a network.
[[nodiscard]] std::vector<std::string> calibration_matrices(double nonzeros);

/// The fastest kernel of each recipe on each matrix that it suits, in double precision. Kernels that fail are left out.
[[nodiscard]] std::vector<CalibrationLine> measure_products(const std::vector<CsrMatrix>& matrices,
                                                            const std::vector<Recipe>& recipes, const Catalogue& catalogue,
                                                            Devices devices, const MeasureOptions& options);

}  // namespace workbench
