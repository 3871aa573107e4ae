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
    std::vector<Recipe> tune_with = {};            // candidates of an additional tuned solve; empty: no tuned solve
    std::function<void()> reported = nullptr;      // called when a solve or failure was added to the report
    std::vector<std::vector<double>> more_b = {};  // further right-hand sides, which are solved for together with b
    std::function<std::unique_ptr<Device>()> make_device = {};  // see TuningPlan
    KeepFolder* keep = nullptr;                                 // see RunOptions
};

/// Fills outcomes, failures and notes of a report whose other members are set. The baseline is the fastest CSR kernel on the
/// arrays of the caller in input order: on a GPU cuSPARSE's or the workbench's own, on a CPU Eigen's or the workbench's own. It
/// is charged nothing for building CSR. On a GPU, a small part of the system is solved first, so that no recipe is charged for
/// what is loaded once a process. The other recipes are solved even if one fails; short solves are repeated in turns.
/// Throws if System's constructor throws.
void solve_recipes(const SolvePlan& plan, const std::vector<Recipe>& recipes, SolveReport& report);

/// The vendor's CSR or the workbench's own. It names no kernel if there is none. vectors: of a product, which its kernel
/// multiplies at a time if there are several. long_rows: as in KernelFilter.
[[nodiscard]] Recipe baseline_recipe(const Catalogue& catalogue, DeviceKind kind, bool of_vendor, int vectors = 1,
                                     bool long_rows = false);

}  // namespace workbench
