// Starts trials (trial.hpp) and describes their results in words.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "kernels/common/compilation/cuda_driver.hpp"
#include "kernels/source/trial.hpp"

namespace workbench {

/// How a trial in a copy of the program ended.
struct TrialEnd {
    TrialKind kind = TrialKind::fine;
    std::string text = {};    // failed: the reason
    std::string words = {};   // "building: it reads or writes behind the end of values, by 8 bytes"; empty: it ended well
    std::string kernel = {};  // that was running; empty: something else
};

/// Calls work in a copy of the program and waits. What work throws is its failure. Its output goes to standard error, up to a
/// limit. Throws MachineError if no child can be started.
[[nodiscard]] TrialEnd try_in_copy(double limit_seconds, const std::function<void()>& work);

// In the copy:
/// Names what follows: "building", or the work of a kernel.
void begin_trial_step(const std::string& step, const std::string& kernel = "");
/// Names an array for the message about an access behind its end.
void name_trial_array(const void* begin, const std::string& name);

struct TrialSetUp {
    std::filesystem::path file = {};  // the author's file, for messages
    bool on_gpu = false;
    std::filesystem::path shared_object = {};  // loaded by the host
    std::string image = {};                    // loaded by a GPU
    Launch launch = {};
    double limit_seconds = 10;
    bool accumulates = true;                    // false: the kernel computes y = A x alone
    std::optional<Offset> prepared_bytes = {};  // on a GPU, for what the file prepares; none: it has no memory of its own
    Precision precision = Precision::f64;
    Index rows = 0;
    Index columns = 0;
};

/// Runs y = A x and then y += A x in a separate process, and returns true if the kernel printed something. If the values are
/// integers whose sums are exact in any order, repeats them, on the host with more threads than cores. Throws BrokenKernel if
/// the kernel crashes, accesses memory outside its arrays, or has different results for the same x, UnfinishedKernel at the
/// limit, RecipeError if it cannot be loaded, and MachineError if the machine lacks something.
[[nodiscard]] bool try_kernel(const TrialSetUp& set_up, const std::vector<LayoutField>& fields);

}  // namespace workbench
