// Starting a trial (kernels/source/trial.hpp) and saying in words what it found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/source/cuda_driver.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

struct TrialSetUp {
    std::filesystem::path file = {};  // the author's, for messages
    bool on_gpu = false;
    std::filesystem::path shared_object = {};  // what the host loads
    std::string image = {};                    // what a GPU loads
    Launch launch = {};
    double limit_seconds = 10;
    Precision precision = Precision::f64;
    Index rows = 0;
    Index columns = 0;
};

/// y = A x and then y += A x, in a process of their own. Throws BrokenKernel where the kernel does what it must not,
/// RecipeError where it cannot be loaded, MachineError where the machine lacks something.
void try_kernel(const TrialSetUp& set_up, const std::vector<LayoutField>& fields);

}  // namespace workbench
