// A recipe on a matrix: stages, layouts and kernels, in the order of the recipe.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/measurement.hpp"
#include "pipeline/run/references.hpp"

namespace workbench {

struct RunOptions {
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    std::string only;  // run just the kernel of this name, and the baselines; empty: all
    TimingOptions timing;
    KeepFolder* keep = nullptr;     // where results of stages and layouts are kept; null: nowhere
    bool fastest_baseline = false;  // see References
    int vectors = 1;                // of each product
};

/// Runs the recipes on a leading part of the matrix, which loads what they need on the GPU; a process pays it once. Recipes
/// that bring code are left out. Returns the seconds.
double load_kernels(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options,
                    std::span<const Recipe> recipes);

/// Runs recipes on one matrix in one process.
class Runner {
public:
    /// All arguments must outlive the runner.
    Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options);

    /// The recipes that will be run, in their order. Stages that several of them begin with run once.
    void expect(std::span<const Recipe> recipes);

    /// See SharedStages::keep_all.
    void keep_all_stages() { stages_.keep_all(); }

    /// Applies from the next recipe on. If the minima of samples and seconds are 0, kernels are prepared, verified and priced,
    /// but not timed.
    void time_with(const TimingOptions& timing) { options_.timing = timing; }

    /// Fills stages, layouts, kernels, devices and notes of a report; the rest is up to the caller. Throws InputError if the
    /// matrix does not suit the recipe, MachineError if the machine lacks something.
    [[nodiscard]] RunReport run(const Recipe& recipe, const RunObserver& observer);

    /// Like the other, into an empty report, which keeps the results of what ran before an exception.
    void run(const Recipe& recipe, const RunObserver& observer, RunReport& report);

    /// Like run, but leaves the verified kernels to time_together. The recipe and the report must live until then.
    void make_ready(const Recipe& recipe, const RunObserver& observer, RunReport& report);
    /// Times the kernels of all recipes that were made ready, in turns with each other and with the baselines. Kernels were
    /// timed before if there was no memory for all of them.
    void time_together(const ReportStep& progress);

    /// The name of a device that no longer works, because a kernel has broken it; none if all work.
    [[nodiscard]] std::optional<std::string> broken_device() const;

private:
    /// Runs the stages, and calls `after` with the results for each precision.
    void run_stages(const Recipe& recipe, const RunObserver& observer, RunReport& report,
                    const std::function<void(Precision, const MeasuredRecipe&)>& after);
    /// Adds notes on results that were kept or could not be, and the devices that were used.
    void conclude(RunReport& report) const;
    /// True if its backend is among those to run, and its device is present.
    [[nodiscard]] bool may_run(const KernelEntry& kernel) const;
    /// The products to measure: one per kernel of a plain recipe; one per device for a hybrid.
    [[nodiscard]] std::vector<Kernels> products_of(const Recipe& recipe) const;
    [[nodiscard]] std::vector<Chain> chains_of(const Recipe& recipe) const;

    RunOptions options_;
    References references_;
    SharedStages stages_;
    std::vector<WaitingKernels> waiting_;
    std::vector<RunReport*> not_concluded_;
};

}  // namespace workbench
