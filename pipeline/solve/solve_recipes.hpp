// One system solved with several recipes, and with the baseline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/solve/solve_report.hpp"

namespace workbench {

struct SolvePlan {
    const CsrMatrix& matrix;
    std::vector<double> b;  // [rows], in the matrix's order
    const Catalogue& catalogue;
    Device& device;
    std::vector<Backend> backends;                           // whose kernels recipes may use
    std::function<void(const std::string&)> tell = nullptr;  // a step that may take long begins
    std::vector<Recipe> tune_with = {};                      // one more solve tries these while it runs; none: there is none
    std::function<void()> reported = nullptr;                // one more solve, or failure, stands in the report
    /// See TuningPlan.
    std::function<std::unique_ptr<Device>()> make_device = {};
    KeepFolder* keep = nullptr;    // where results of stages and layouts are kept; null: nowhere
    Preparer* preparer = nullptr;  // who is asked first to do the work of stages and layouts; null: the host
};

/// Fills outcomes and failures of a report that says method, precision and the rest. The baseline is CSR in the matrix's order:
/// cuSPARSE's on a GPU (the workbench's own, with a note, where cuSPARSE is not there), Eigen's on a CPU. A recipe that fails
/// costs its own line. Throws where not even the system can be made: see System.
void solve_recipes(const SolvePlan& plan, const std::vector<Recipe>& recipes, SolveReport& report);

/// The recipe of the baseline.
[[nodiscard]] Recipe baseline_recipe(const Catalogue& catalogue, DeviceKind kind, bool of_vendor);

}  // namespace workbench
