// Builds the layouts of a recipe whose stages have run, and measures its kernels.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "pipeline/engine/chain.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/references.hpp"

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

/// The kernels of one recipe in one precision: prepared, verified, and not yet timed.
struct WaitingKernels {
    RunReport* report = nullptr;
    Precision precision = Precision::f64;
    std::map<DeviceKind, ReadyKernel*> baselines = {};
    std::vector<ReadyKernel> ready = {};
    std::optional<Index> partitions = {};  // the number of those that the recipe made
};

/// Builds the layouts in one precision, and prepares and verifies the kernels one after another. Adds them to those that wait.
/// If there is no memory for another kernel, all that wait are timed first. Throws what a step throws, after it has added the
/// kernels that are ready.
void make_ready(Precision precision, const MeasuredRecipe& measured, const TimingOptions& timing, References& references,
                RunReport& report, std::vector<WaitingKernels>& waiting);

/// Times all waiting kernels, those of one precision and device in turns with each other and with their baseline. Adds their
/// outcomes to their reports, and clears the list.
void time_waiting(std::vector<WaitingKernels>& waiting, const TimingOptions& timing, References& references,
                  const ReportStep& progress);

/// Makes the kernels of one recipe ready and times them. Adds all outcomes to the report, also those before an exception.
void measure(Precision precision, const MeasuredRecipe& measured, const TimingOptions& timing, References& references,
             RunReport& report);

}  // namespace workbench
