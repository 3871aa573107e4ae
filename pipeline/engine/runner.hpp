// A recipe on a matrix: stages, layouts and kernels, in the order of the recipe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/measurement.hpp"
#include "pipeline/engine/references.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

struct RunOptions {
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    std::string only;  // run just the kernel of this name, and the baselines; empty: all
    TimingOptions timing;
    KeepFolder* keep = nullptr;  // where results of stages and layouts are kept; null: nowhere
};

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

    /// The name of a device that no longer works, because a kernel has broken it; none if all work.
    [[nodiscard]] std::optional<std::string> broken_device() const;

private:
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
};

}  // namespace workbench
