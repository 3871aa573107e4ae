// workbench choose: finds the best recipe for a matrix.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/choose/choose.hpp"
#include "pipeline/cli/command.hpp"
#include "pipeline/cli/interruption.hpp"
#include "pipeline/cli/kept_calibration.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/provenance.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/terminal.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/run/kokkos_runtime.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

struct ChooseArguments : SharedArguments {
    ChooseArguments() { out = "winner.toml"; }
    double budget = 60;
    std::optional<double> products;
    bool force = false;
};

/// The installed recipes, or else those in recipes/ of the current folder, sorted by name.
std::vector<std::string> shipped_recipes() {
    std::vector<std::string> files;
    for (const fs::path& folder : {installed("recipes"), fs::path("recipes")}) {
        std::error_code none;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
            if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
        }
        if (!files.empty()) break;
    }
    if (files.empty()) {
        throw RecipeError("no recipes are installed, and the current folder has no recipes/; name the recipes to choose from");
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Recipe> recipes_of(const ChooseArguments& arguments) {
    if (!arguments.changes.matrix && !arguments.changes.generate) {
        throw RecipeError("no matrix; name one with --matrix FILE or --generate KIND");
    }
    std::vector<Recipe> recipes =
        load_recipes(arguments.recipes.empty() ? shipped_recipes() : arguments.recipes, arguments.changes);
    for (const Recipe& recipe : recipes) {
        if (recipe.matrix != recipes.front().matrix) throw RecipeError("expected one matrix, found a sweep over several");
    }
    return recipes;
}

void check_out(const std::string& out, const std::string& json, bool force) {
    check_new(out, force);
    if (!json.empty() && fs::path(json).lexically_normal() == fs::path(out).lexically_normal()) {
        throw RecipeError(fmt::format("{}: --out and --json name the same file; expected two files", out));
    }
    check_writable(out);
    check_results_file("--json", json);
}

ExitCode choose_recipe(const ChooseArguments& arguments) {
    const KokkosRuntime kokkos;
    check_finite("--budget", arguments.budget);
    check_out(arguments.out, arguments.json, arguments.force);
    const std::vector<Recipe> recipes = recipes_of(arguments);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();

    ChooseOptions options;
    options.budget_seconds = arguments.budget;
    options.products = arguments.products;
    options.precision = precision_named(arguments.precision);
    options.always = 2;                  // CSR in both orders
    options.timing.minimum_seconds = 0;  // many recipes with few samples each
    options.backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    const bool on_gpu = device_of(options.backends.front()) == DeviceKind::gpu;
    const std::optional<Calibration> calibration = kept_calibration(on_gpu ? gpu->properties() : host->properties());
    options.calibration = calibration ? &*calibration : nullptr;
    std::optional<KeepFolder> keep = keep_folder(arguments.keep, *host);
    options.keep = pointer_to(keep);
    const MatrixChoice& of = recipes.front().matrix;
    const auto [matrix, matrix_report] = load_matrix(of);
    const Orders orders = !arguments.recipes.empty()      ? Orders::own
                          : matrix.rows == matrix.columns ? Orders::others_of_square
                                                          : Orders::others;
    const std::vector<Recipe> candidates = candidates_of(catalogue(), recipes, of, orders);
    const Interruption interruption;
    const Choice choice = [&, &input = matrix, &of_input = matrix_report] {
        const StdoutToStderr redirection;
        const Progress progress;
        options.progress = [&progress](const std::string& step) {
            stop_if_requested();
            progress.show(step);
        };
        Choice made = choose(input, catalogue(), {*host, gpu.get()}, candidates, options);
        for (RunReport& report : made.reports) {
            report.matrix = of_input;
            add_provenance(report, *host);
        }
        return made;
    }();

    write_whole_file(arguments.out, choice_recipe(choice, options));
    const std::string json = choice_json(choice, options, matrix_report, arguments.out);
    if (arguments.json == standard_output) {
        fmt::print("{}", json);
    } else {
        fmt::print("{}Written to {}\n", choice_text(choice, options, matrix_report), arguments.out);
        if (!arguments.json.empty()) write_whole_file(arguments.json, json);
    }
    if (choice.wrong) {
        print_error("error: a kernel failed verification, see WRONG RESULT under 'Not timed'");
        return ExitCode::wrong_result;
    }
    if (!choice.stopped) return ExitCode::ok;
    print_error(fmt::format("stopped: this is the best of the {} recipes that were timed before", choice.ranking.size()));
    return ExitCode::stopped;
}

}  // namespace

void add_choose_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "choose", "Find the fastest recipe for a matrix within a time budget, and its break-even", choose_recipe);
    command
        .add_option("recipe", arguments.recipes,
                    "Recipe files to choose from (default: all installed recipes, in several orders)")
        ->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    add_number(command, "--budget", arguments.budget, Range{0.1, 1e6, "SECONDS"},
               "Time for preprocessing and timing, without reading the matrix; the recipe running at the end is finished");
    add_number(command, "--products", arguments.products, Range{1.0, 1e15, "COUNT"},
               "Number of products planned: choose the recipe that saves most time in total (default: the fastest recipe)");
    add_choice(command, "--precision", arguments.precision, {"f32", "f64"}, "f32 or f64");
    add_backends(command, arguments.backends,
                 "Backends of one device; the baseline's (eigen, cusparse) is always included (default: the GPU's, if any)");
    add_keep_option(command, arguments.keep);
    command.add_option("-o,--out", arguments.out, "File for the chosen recipe")->type_name("FILE")->capture_default_str();
    add_force_option(command, arguments.force);
    command
        .add_option("--json", arguments.json, "Also write all measurements to this file; -: print them instead of the table")
        ->type_name("FILE");
}

}  // namespace workbench
