// The arguments shared by commands that run recipes, and the options for measuring kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontends/cli/options.hpp"
#include "pipeline/run/runner.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// The arguments that run, compare, choose and solve have in common; not every command has an option for each.
struct SharedArguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    std::string precision = "f64";
    std::vector<std::string> backends;
    std::string only;
    std::string keep;
    std::string prepare = as_recipes_ask;
    std::string out;
    std::string json;
    bool distributed = false;
    std::string rows_to_ranks = "equal";
};

struct MeasuringArguments : SharedArguments {
    std::string cache = "warm";
    std::string inside;  // "cg"; empty: products outside a solver
    int vectors = 1;
    int samples = 20;
    double seconds = 0.2;
};

/// Adds --precision, --backend, --only, --cache, --inside, --samples and --seconds. `arguments` must live until the command
/// line is parsed.
void add_measuring_options(CLI::App& command, MeasuringArguments& arguments);

/// Adds --vectors.
void add_vectors_option(CLI::App& command, int& vectors);

/// Throws RecipeError if a number is not finite.
[[nodiscard]] RunOptions options_of(const MeasuringArguments& arguments);

/// The GPU; null if it is not needed, or if there is none, with the reason in `note`. Throws MachineError if there is no GPU
/// for an explicit --backend.
[[nodiscard]] std::unique_ptr<Device> gpu_for(const MeasuringArguments& arguments, const RunOptions& options,
                                              std::string& note);

/// The requested backends, which must be of one kind of device; by default those of the GPU if there is one. Always includes
/// the baseline's backend (eigen or cusparse). Throws RecipeError for mixed kinds, MachineError if there is no GPU.
[[nodiscard]] std::vector<Backend> backends_of_one_device(const std::vector<std::string>& names, bool has_gpu);

}  // namespace workbench
