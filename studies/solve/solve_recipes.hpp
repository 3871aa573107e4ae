// Solves one system with several recipes and with the baseline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "studies/solve/solve_report.hpp"

namespace workbench {

struct SolvePlan {
    const CsrMatrix& matrix;
    std::vector<double> b;  // [rows], in the matrix's order
    const Catalogue& catalogue;
    Device& device;
    std::vector<Backend> backends;                               // of the recipes' kernels
    std::function<void(const std::string&)> progress = nullptr;  // called before each long step
    std::vector<Recipe> tune_with = {};        // candidates of an additional tuned solve; empty: no tuned solve
    std::function<void()> reported = nullptr;  // called when a solve or failure was added to the report
    std::function<std::unique_ptr<Device>()> make_device = {};  // see TuningPlan
    KeepFolder* keep = nullptr;                                 // see RunOptions
};

/// Fills outcomes, failures and notes of a report whose other members are set. The baseline is CSR in input order: cuSPARSE's
/// on a GPU (or, with a note, the workbench's own if cuSPARSE is missing), Eigen's on a CPU. The other recipes are solved even
/// if one fails. Throws if System's constructor throws.
void solve_recipes(const SolvePlan& plan, const std::vector<Recipe>& recipes, SolveReport& report);

[[nodiscard]] Recipe baseline_recipe(const Catalogue& catalogue, DeviceKind kind, bool of_vendor);

}  // namespace workbench
