// The two trials of the program workbench_trial.
#pragma once

#include "kernels/source/trial.hpp"

namespace workbench {

/// The plan in memory that is shared with the program, and the file that it is in.
struct Trial {
    TrialPlan& plan;
    int file = -1;
    const unsigned char* bytes = nullptr;  // all of the file
};

/// Writes the verdict and ends the process.
[[noreturn]] void conclude(TrialPlan& plan, TrialVerdict verdict, const char* text = "");

/// From here on the product must end within the limit.
void start_product(TrialPlan& plan, bool accumulating);
void end_product();

[[noreturn]] void try_on_host(const Trial& trial);
[[noreturn]] void try_on_gpu(const Trial& trial);

}  // namespace workbench
