// The two kinds of trial that workbench_trial runs.
#pragma once

#include "kernels/source/trial.hpp"

namespace workbench {

/// The plan, in memory shared with the program, and the file that contains it.
struct MappedTrial {
    TrialPlan& plan;
    int file = -1;
    const unsigned char* bytes = nullptr;  // the whole file
};

/// Writes the verdict and ends the process.
[[noreturn]] void conclude(TrialPlan& plan, TrialVerdict verdict, const char* text = "");

/// Starts the time limit of the product.
void start_product(TrialPlan& plan, bool accumulating);
void end_product();

[[noreturn]] void try_on_host(const MappedTrial& trial);
[[noreturn]] void try_on_gpu(const MappedTrial& trial);

}  // namespace workbench
