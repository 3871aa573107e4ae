// Starts a trial (kernels/source/trial.hpp) and describes its result in words.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "kernels/source/cuda_driver.hpp"

namespace workbench {

struct TrialSetUp {
    std::filesystem::path file = {};  // the author's file, for messages
    bool on_gpu = false;
    std::filesystem::path shared_object = {};  // loaded by the host
    std::string image = {};                    // loaded by a GPU
    Launch launch = {};
    double limit_seconds = 10;
    Precision precision = Precision::f64;
    Index rows = 0;
    Index columns = 0;
};

/// Runs y = A x and then y += A x in a separate process, and returns true if the kernel printed something. Throws BrokenKernel
/// if the kernel crashes, hangs or accesses memory outside its arrays, RecipeError if it cannot be loaded, and MachineError if
/// the machine lacks something.
[[nodiscard]] bool try_kernel(const TrialSetUp& set_up, const std::vector<LayoutField>& fields);

}  // namespace workbench
