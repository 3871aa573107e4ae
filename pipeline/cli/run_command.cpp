// workbench run
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/common/device/cuda_device.hpp"
#include "kernels/common/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/run_recipes.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

struct RunArguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    std::string out = "out";
    std::string json;
    std::string precision = "f64";
    std::vector<std::string> backends;
    std::string only;
    std::string cache = "cold";
    int samples = 20;
    double seconds = 0.2;
    bool no_pictures = false;
};

std::vector<Precision> precisions_of(const std::string& word) {
    if (word == "f32") return {Precision::f32};
    if (word == "f64") return {Precision::f64};
    return {Precision::f64, Precision::f32};
}

RunOptions options_of(const RunArguments& arguments) {
    RunOptions options;
    options.precisions = precisions_of(arguments.precision);
    options.only = arguments.only;
    options.timing.cache = arguments.cache == "cold" ? CacheState::cold : CacheState::warm;
    options.timing.minimum_samples = arguments.samples;
    options.timing.minimum_seconds = arguments.seconds;
    options.timing.maximum_seconds = std::max(options.timing.maximum_seconds, 2 * arguments.seconds);
    if (!arguments.backends.empty()) {
        std::erase_if(options.backends, [&](Backend backend) {
            return std::find(arguments.backends.begin(), arguments.backends.end(), name_of(backend)) ==
                   arguments.backends.end();
        });
    }
    return options;
}

std::vector<Recipe> load_recipes(const RunArguments& arguments) {
    std::vector<Recipe> recipes;
    for (const std::string& file : arguments.recipes)
        recipes.push_back(load_recipe(find_recipe(file), catalogue(), arguments.changes));
    return recipes;
}

/// Those of the layout, and those beside the recipe.
std::vector<KernelEntry> kernels_of(const Recipe& recipe) {
    std::vector<KernelEntry> kernels = recipe.layout.entry->kernels;
    kernels.insert(kernels.end(), recipe.own_kernels.begin(), recipe.own_kernels.end());
    return kernels;
}

void check_only(const RunArguments& arguments, const RunOptions& options, const std::vector<Recipe>& recipes) {
    if (arguments.only.empty()) return;
    std::string known;
    for (const Recipe& recipe : recipes) {
        for (const KernelEntry& kernel : kernels_of(recipe)) {
            if (std::find(options.backends.begin(), options.backends.end(), kernel.backend) == options.backends.end()) continue;
            if (kernel.name == arguments.only) return;
            known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kernel.name, recipe.layout.entry->name);
        }
    }
    throw RecipeError(
        fmt::format("--only {}: no layout of these recipes has a kernel of that name; there are {}", arguments.only, known));
}

/// A kernel that was asked for by name and cannot run must not go missing without a word.
void check_only_on(const RunArguments& arguments, const std::vector<Recipe>& recipes, const Device* gpu) {
    if (arguments.only.empty() || gpu != nullptr) return;
    for (const Recipe& recipe : recipes) {
        for (const KernelEntry& kernel : kernels_of(recipe)) {
            if (kernel.name == arguments.only && device_of(kernel.backend) == DeviceKind::host) return;
        }
    }
    throw MachineError(fmt::format("--only {}: a kernel for a GPU; {}", arguments.only, cuda_absence_reason()));
}

/// Each recipe writes into a folder named after its file.
void check_folders(const std::vector<Recipe>& recipes) {
    std::map<std::filesystem::path, std::filesystem::path> files;
    for (const Recipe& recipe : recipes) {
        if (recipe.file.stem() == "." || recipe.file.stem() == "..") {
            throw RecipeError(fmt::format("{}: its name without the ending is no name for a folder", recipe.file.string()));
        }
        const auto [other, is_new] = files.emplace(recipe.file.stem(), recipe.file);
        if (!is_new) {
            throw RecipeError(
                fmt::format("{} and {} would write into one folder, '{}'; run them one after the other, or rename one",
                            other->second.string(), recipe.file.string(), recipe.file.stem().string()));
        }
    }
}

/// Recipes are compared on one matrix; several that name different ones would be compared on none.
void check_one_matrix(const std::vector<Recipe>& recipes) {
    for (const Recipe& recipe : recipes) {
        if (recipe.matrix != recipes.front().matrix) {
            throw RecipeError(fmt::format(
                "{} and {} do not name the same matrix; several recipes run on one: give it with --matrix or --generate",
                recipes.front().file.string(), recipe.file.string()));
        }
    }
}

/// The GPU, or null with the reason in `note` where there is none or none is wanted. Throws where the command line demands one.
std::unique_ptr<Device> gpu_for(const RunArguments& arguments, const RunOptions& options, std::string& note) {
    const bool wanted = std::any_of(options.backends.begin(), options.backends.end(),
                                    [](Backend backend) { return device_of(backend) == DeviceKind::gpu; });
    if (!wanted) return nullptr;
    std::unique_ptr<Device> gpu = make_cuda_device();
    if (gpu == nullptr && !arguments.backends.empty()) {
        throw MachineError(fmt::format("--backend {}: {}", fmt::join(arguments.backends, ","), cuda_absence_reason()));
    }
    if (gpu == nullptr) note = fmt::format("no GPU kernels: {}", cuda_absence_reason());
    return gpu;
}

int run(const RunArguments& arguments) {
    const KokkosRuntime kokkos;
    const std::vector<Recipe> recipes = load_recipes(arguments);
    const RunOptions options = options_of(arguments);
    check_only(arguments, options, recipes);
    check_folders(recipes);
    check_one_matrix(recipes);
    if (!std::isfinite(arguments.seconds)) throw RecipeError("--seconds: not a finite number");
    const RunOutput output{arguments.out, arguments.json, !arguments.no_pictures};
    check_output(output, recipes);
    std::string note;
    const std::unique_ptr<Device> gpu = gpu_for(arguments, options, note);
    check_only_on(arguments, recipes, gpu.get());
    const std::unique_ptr<Device> host = make_host_device();

    const auto [matrix, matrix_report] = [&recipes] {
        Progress progress;
        progress.show("reading the matrix");
        return load_matrix(recipes.front().matrix);
    }();
    Runner runner(matrix, catalogue(), {*host, gpu.get()}, options);
    return run_recipes(runner, recipes, output, [&](RunReport& report) {
        report.matrix = matrix_report;
        report.machine = describe_machine(host->properties());
        report.versions = versions();
        if (!note.empty()) report.notes.push_back(note);
    });
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Run recipes on a matrix: stages, pictures, verified and timed kernels");
    command->add_option("recipe", arguments->recipes, "Recipe files; several run on one matrix and share their baselines")
        ->required()
        ->type_name("RECIPE");
    add_recipe_changes(*command, arguments->changes);
    command->add_option("--out", arguments->out, "Folder for pictures and report.json, in a folder named after the recipe")
        ->type_name("FOLDER")
        ->capture_default_str();
    command
        ->add_option("--json", arguments->json,
                     "Also write the report to this file; -: to standard output, and nothing else there")
        ->type_name("FILE");
    command->add_option("--precision", arguments->precision, "f32, f64 or both")
        ->check(CLI::IsMember({"f32", "f64", "both"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command
        ->add_option("--backend", arguments->backends,
                     "Only these backends: kokkos, eigen, cpu, cuda, cusparse (default: all there are)")
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->type_name("LIST");
    command->add_option("--only", arguments->only, "Only the kernel of this name, and the baselines")->type_name("KERNEL");
    command->add_option("--cache", arguments->cache, "cold: caches are flushed before every sample; warm: not")
        ->check(CLI::IsMember({"cold", "warm"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->add_option("--samples", arguments->samples, "Timed samples a kernel, at least, if they take no more than some 2 s")
        ->check(CLI::Range(1, 1000000))
        ->type_name("COUNT")
        ->capture_default_str();
    command->add_option("--seconds", arguments->seconds, "Sum of the samples in seconds, at least, under the same condition")
        ->check(CLI::Range(0.0, 3600.0))
        ->type_name("SECONDS")
        ->capture_default_str();
    command->add_flag("--no-pictures", arguments->no_pictures, "Draw nothing");
    command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace workbench
