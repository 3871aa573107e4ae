// Builds the layouts of a recipe whose stages have run, and measures its kernels.
#pragma once

#include <vector>

#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/references.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

/// One kernel per layout of a recipe, on one device.
using Kernels = std::vector<const KernelEntry*>;

/// A recipe whose stages have run.
struct MeasuredRecipe {
    const Recipe& recipe;
    const std::vector<Kernels>& products;  // one per kernel of a plain recipe; one per device for a hybrid
    const RunObserver& observer;
    StagedMatrix& matrix;
    Keeping keeping;  // the key of the matrix
};

/// Builds the layouts in one precision, prepares and verifies the kernels one after another, then times them in turns with the
/// baselines. Adds all outcomes to the report, also those before an exception.
void measure(Precision precision, const MeasuredRecipe& measured, const TimingOptions& timing, References& references,
             RunReport& report);

}  // namespace workbench
