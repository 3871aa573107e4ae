// workbench run
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/command_line.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/distributed.hpp"
#include "pipeline/cli/keep.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_runner.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/prepare.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/run_recipes.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

struct RunArguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    std::string out = "out";
    std::string json;
    MeasuringArguments measuring;
    bool no_pictures = false;
    std::string scale_from;
    bool no_page = false;
    std::string keep;
    DistributedArguments distributed;
    std::string prepare = as_recipes_ask;
};

/// Of all layouts of a recipe, and those beside it.
std::vector<std::pair<const LayoutEntry*, const KernelEntry*>> kernels_of(const Recipe& recipe) {
    std::vector<std::pair<const LayoutEntry*, const KernelEntry*>> kernels;
    for (const RecipeLayout& layout : recipe.layouts) {
        for (const KernelEntry& kernel : layout.entry->kernels) kernels.emplace_back(layout.entry, &kernel);
    }
    for (const KernelEntry& kernel : recipe.own_kernels) kernels.emplace_back(recipe.layouts.front().entry, &kernel);
    return kernels;
}

void check_only(const MeasuringArguments& arguments, const RunOptions& options, const std::vector<Recipe>& recipes) {
    if (arguments.only.empty()) return;
    std::string known;
    for (const Recipe& recipe : recipes) {
        for (const auto& [layout, kernel] : kernels_of(recipe)) {
            const auto& backends = options.backends;
            if (std::find(backends.begin(), backends.end(), kernel->backend) == backends.end()) continue;
            if (kernel->name == arguments.only) return;
            known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kernel->name, layout->name);
        }
    }
    throw RecipeError(
        fmt::format("--only {}: no layout of these recipes has a kernel of that name; there are {}", arguments.only, known));
}

/// Refuses a kernel that was asked for by name and cannot run.
void check_only_on(const MeasuringArguments& arguments, const std::vector<Recipe>& recipes, const Device* gpu) {
    if (arguments.only.empty() || gpu != nullptr) return;
    for (const Recipe& recipe : recipes) {
        for (const auto& [layout, kernel] : kernels_of(recipe)) {
            if (kernel->name == arguments.only && device_of(kernel->backend) == DeviceKind::host) return;
        }
    }
    throw MachineError(fmt::format("--only {}: a kernel for a GPU; {}", arguments.only, cuda_absence_reason()));
}

/// Each recipe writes into a folder named after its file, each point of a sweep into one therein.
void check_folders(const std::vector<Recipe>& recipes) {
    struct Taken {
        std::filesystem::path file;
        std::set<std::string> points;
    };
    std::map<std::filesystem::path, Taken> folders;
    for (const Recipe& recipe : recipes) {
        const std::filesystem::path stem = recipe.file.stem();
        if (stem == "." || stem == "..") {
            throw RecipeError(fmt::format("{}: its name without the ending is no name for a folder", recipe.file.string()));
        }
        Taken& taken = folders.emplace(stem, Taken{recipe.file, {}}).first->second;
        if (taken.file == recipe.file && taken.points.insert(recipe.sweep.folder).second) continue;
        throw RecipeError(
            fmt::format("{} and {} would write into one folder, '{}'; run them one after the other, or rename one",
                        taken.file.string(), recipe.file.string(), stem.string()));
    }
}

/// Products alone.
ExitCode run_over_ranks(const RunArguments& arguments) {
    if (arguments.measuring.precision == "both") throw RecipeError("--distributed takes one precision at a time: f32 or f64");
    if (!arguments.measuring.inside.empty()) {
        throw RecipeError("--inside is not for --distributed; solve --distributed iterates");
    }
    if (!arguments.keep.empty()) throw RecipeError("--keep is not for --distributed");
    return run_distributed({.distributed = arguments.distributed,
                            .recipes = arguments.recipes,
                            .changes = arguments.changes,
                            .prepare = arguments.prepare,
                            .backends = arguments.measuring.backends,
                            .only = arguments.measuring.only,
                            .precision = arguments.measuring.precision == "f32" ? Precision::f32 : Precision::f64,
                            .samples = arguments.measuring.samples,
                            .out = arguments.out,
                            .json = arguments.json});
}

ExitCode run(const RunArguments& arguments) {
    if (arguments.distributed.on) return run_over_ranks(arguments);
    const KokkosRuntime kokkos;
    std::vector<Recipe> recipes = load_recipes(arguments.recipes, arguments.changes);
    RunOptions options = options_of(arguments.measuring);
    check_only(arguments.measuring, options, recipes);
    check_folders(recipes);
    sort_by_matrix(recipes);
    RunOutput output{.folder = arguments.out,
                     .json = arguments.json,
                     .pictures = !arguments.no_pictures,
                     .page = !arguments.no_page,
                     .command = command_line()};
    if (!arguments.scale_from.empty()) output.density_ceiling = density_ceiling_of_report(arguments.scale_from);
    check_output(output, recipes);
    std::string note;
    const std::unique_ptr<Device> gpu = gpu_for(arguments.measuring, options, note);
    check_only_on(arguments.measuring, recipes, gpu.get());
    const std::unique_ptr<Device> host = make_host_device();
    std::optional<KeepFolder> keep = keep_folder(arguments.keep, host->properties());
    options.keep = pointer_to(keep);
    const std::unique_ptr<Preparer> preparer = preparer_for(arguments.prepare, recipes);
    options.preparer = preparer.get();

    MatrixRunner runner(recipes, {*host, gpu.get()}, options);
    return run_recipes(std::ref(runner), recipes, output, [&](RunReport& report) {
        report.matrix = runner.report();
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
    add_sweeps(*command, arguments->changes);
    command->add_option("--out", arguments->out, "Folder for pictures and report.json, in a folder named after the recipe")
        ->type_name("FOLDER")
        ->capture_default_str();
    command
        ->add_option("--json", arguments->json,
                     "Also write the report to this file; -: to standard output, and nothing else there")
        ->type_name("FILE");
    add_measuring_options(*command, arguments->measuring);
    add_keep_option(*command, arguments->keep);
    add_distributed_options(*command, arguments->distributed);
    add_prepare_option(*command, arguments->prepare);
    CLI::Option* none = command->add_flag("--no-pictures", arguments->no_pictures, "Draw nothing, and write no report.html");
    command
        ->add_option("--scale-from", arguments->scale_from,
                     "Shades as in the pictures of this report.json, so that recipes can be compared by eye")
        ->type_name("FILE")
        ->excludes(none);
    command->add_flag("--no-page", arguments->no_page, "Write no report.html");
    command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace workbench
