// What the commands that run recipes let one say about how kernels are measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/run/runner.hpp"

namespace CLI {
class App;
}

namespace workbench {

struct MeasuringArguments {
    std::string precision = "f64";
    std::vector<std::string> backends;
    std::string only;
    std::string cache = "cold";
    std::string inside;  // "cg"; empty: a product alone
    int samples = 20;
    double seconds = 0.2;
};

/// Adds --precision, --backend, --only, --cache, --inside, --samples and --seconds. `arguments` must live until the command
/// line is parsed.
void add_measuring_options(CLI::App& command, MeasuringArguments& arguments);

/// Throws RecipeError where a number is none.
[[nodiscard]] RunOptions options_of(const MeasuringArguments& arguments);

/// The GPU, or null with the reason in `note` where there is none or none is wanted. Throws where the command line demands one.
[[nodiscard]] std::unique_ptr<Device> gpu_for(const MeasuringArguments& arguments, const RunOptions& options,
                                              std::string& note);

/// Of one kind of device, so that times can be compared: what is asked for, otherwise the GPU's where there is one. eigen or
/// cusparse, which everything is compared with, is always among them. Throws RecipeError where kinds are mixed, MachineError
/// where there is no GPU for them.
[[nodiscard]] std::vector<Backend> backends_of_one_device(const std::vector<std::string>& names, bool has_gpu);

}  // namespace workbench
