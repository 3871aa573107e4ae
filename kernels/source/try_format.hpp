// Trials of a format beside the recipe, each in a process of its own (run_trial.hpp).
#pragma once

#include <map>
#include <string>

#include "core/contract/layout.hpp"

namespace workbench {

/// The host kernels of a format that did not end their trial, with the reason. They are left out of later trials.
using UnfinishedKernels = std::map<std::string, std::string>;

/// Builds the layout, and runs every kernel and walks every schedule over it. Throws BrokenKernel unless all of that stays
/// inside the arrays, and UnfinishedKernel unless it ends; a kernel that does not end is noted, and costs nothing else. A
/// matrix that the format refuses is fine. WORKBENCH_TRIAL_SECONDS is the time that a small matrix may take. Default: 20.
void try_format(const LayoutEntry& entry, const StagedMatrix& staged, const Parameters& parameters, Precision precision,
                UnfinishedKernels& unfinished);

/// Tries the format with these parameters on the battery of small matrices: each nonzero is stored once, each schedule reads
/// it once, a fault planted in any array is noticed, and the kernels are right. Does nothing if the format needs a stage before
/// it. Throws like try_format, with the matrix and the first fault.
void try_format_on_battery(const LayoutEntry& entry, const Parameters& parameters, UnfinishedKernels& unfinished);

}  // namespace workbench
