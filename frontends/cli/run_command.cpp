// workbench run
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/distributed.hpp"
#include "frontends/cli/matrix_runner.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/run_recipes.hpp"
#include "frontends/cli/sanitizer.hpp"
#include "frontends/cli/terminal.hpp"
#include "frontends/cli/watch.hpp"
#include "kernels/device/cuda_device.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

struct RunArguments : MeasuringArguments {
    RunArguments() { out = "out"; }
    bool no_pictures = false;
    std::string scale_from;
    bool no_page = false;
    bool watch = false;
    bool sanitize = false;
};

/// The kernels of all layouts of a recipe, and its kernel sources.
std::vector<std::pair<const LayoutEntry*, const KernelEntry*>> kernels_of(const Recipe& recipe) {
    std::vector<std::pair<const LayoutEntry*, const KernelEntry*>> kernels;
    for (const RecipeLayout& layout : recipe.layouts) {
        for (const KernelEntry& kernel : layout.entry->kernels) kernels.emplace_back(layout.entry, &kernel);
        for (const KernelEntry& kernel : layout.own_kernels) kernels.emplace_back(layout.entry, &kernel);
    }
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
    throw RecipeError(fmt::format("--only {}: unknown kernel; expected one of {}", arguments.only, known));
}

/// Throws if the kernel of --only needs a GPU that is missing.
void check_only_on_host(const std::string& only, const std::vector<Recipe>& recipes) {
    if (only.empty()) return;
    for (const Recipe& recipe : recipes) {
        for (const auto& [layout, kernel] : kernels_of(recipe)) {
            if (kernel->name == only && device_of(kernel->backend) == DeviceKind::host) return;
        }
    }
    throw MachineError(fmt::format("--only {}: this kernel needs a GPU: {}", only, cuda_absence_reason()));
}

/// Throws if two recipes would write to the same folder, which is named after the recipe file and the point of a sweep.
void check_folders(const std::vector<Recipe>& recipes) {
    struct TakenFolder {
        std::filesystem::path file;
        std::set<std::string> points;
    };
    std::map<std::filesystem::path, TakenFolder> folders;
    for (const Recipe& recipe : recipes) {
        const std::filesystem::path stem = recipe.file.stem();
        if (stem == "." || stem == "..") {
            throw RecipeError(fmt::format("{}: no folder can be named after this file", recipe.file.string()));
        }
        TakenFolder& taken = folders.emplace(stem, TakenFolder{recipe.file, {}}).first->second;
        if (taken.file == recipe.file && taken.points.insert(recipe.sweep.folder).second) continue;
        throw RecipeError(fmt::format("{} and {} would write to the same folder, '{}'; rename one, or run them separately",
                                      taken.file.string(), recipe.file.string(), stem.string()));
    }
}

ExitCode run_over_ranks(const RunArguments& arguments) {
    if (arguments.precision == "both") throw RecipeError("--distributed takes one precision: f32 or f64");
    if (!arguments.inside.empty()) {
        throw RecipeError("--distributed does not support --inside; use 'workbench solve --distributed'");
    }
    return run_distributed(arguments, arguments.samples);
}

ExitCode run_once(const RunArguments& arguments) {
    const KokkosRuntime kokkos(print_error);
    std::vector<Recipe> recipes = load_recipes(arguments.recipes, arguments.changes);
    set_preparation(arguments.prepare, recipes);
    check_only(arguments, options_of(arguments), recipes);
    check_folders(recipes);
    if (arguments.sanitize) print_error(sanitize(recipes, arguments.changes.overrides));
    sort_by_matrix(recipes);
    RunOutput output{.folder = arguments.out,
                     .json = arguments.json,
                     .pictures = !arguments.no_pictures,
                     .page = !arguments.no_page,
                     .command = command_line()};
    if (!arguments.scale_from.empty()) output.density_ceiling = density_ceiling_of_report(arguments.scale_from);
    check_output(output, recipes);
    MatrixRunner runner(arguments, recipes);
    if (!runner.has_gpu()) check_only_on_host(arguments.only, recipes);
    const auto on_first = [&](const Recipe& recipe) { return recipe.matrix == recipes.front().matrix; };
    // Throws if the only matrix cannot be read; if there are several, the others are still used.
    if (std::all_of(recipes.begin(), recipes.end(), on_first)) static_cast<void>(runner(recipes.front()));
    return run_recipes(std::ref(runner), recipes, output, [&](RunReport& report) { runner.add_facts(report); });
}

ExitCode run(const RunArguments& arguments) {
    if (arguments.distributed) return run_over_ranks(arguments);
    if (!arguments.watch) return run_once(arguments);
    return run_on_changes(arguments.recipes, [&arguments] { return run_once(arguments); });
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "run", "Run recipes on a matrix: draw the stages, verify and time the kernels", run);
    command.add_option("recipe", arguments.recipes, "Recipe files; several share the matrix and the baselines")
        ->required()
        ->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    command.add_option("--out", arguments.out, "Folder for the results, with a subfolder for each recipe")
        ->type_name("FOLDER")
        ->capture_default_str();
    command.add_option("--json", arguments.json, "Also write the report to this file; -: print it instead of the tables")
        ->type_name("FILE");
    add_measuring_options(command, arguments);
    add_keep_option(command, arguments.keep);
    add_distributed_options(command, arguments);
    add_prepare_option(command, arguments.prepare);
    command.add_flag("--watch", arguments.watch,
                     "Run again whenever a recipe or source in the folder of a recipe is saved, until Ctrl-C");
    command.add_flag("--sanitize", arguments.sanitize,
                     "First run the recipes' own code for a GPU on small matrices under compute-sanitizer");
    CLI::Option* none = command.add_flag("--no-pictures", arguments.no_pictures, "Do not draw pictures or write report.html");
    command
        .add_option("--scale-from", arguments.scale_from,
                    "Use the density scale of the pictures of this report.json, so that pictures can be compared")
        ->type_name("FILE")
        ->excludes(none);
    command.add_flag("--no-page", arguments.no_page, "Do not write report.html");
    exclude_from_distributed(command, {"--watch", "--sanitize", "--cache", "--vectors", "--seconds", "--keep", "--scale-from"});
}

}  // namespace workbench
