// workbench choose: which recipe for a matrix.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/bench/choose.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/aside.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/keep.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/run/kokkos_runtime.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* standard_output = "-";

struct Arguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    double budget = 60;
    std::optional<double> products;
    std::string precision = "f64";
    std::vector<std::string> backends;
    std::string out = "winner.toml";
    std::string json;
    std::string keep;
};

/// Those that are installed with the program, otherwise those of the current folder, in the order of their names.
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
        throw RecipeError(
            "no recipes are installed with this program, and the current folder has no recipes/; name those to choose from");
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Recipe> recipes_of(const Arguments& arguments) {
    if (!arguments.changes.matrix && !arguments.changes.generate) {
        throw RecipeError("no matrix to choose for; name one with --matrix FILE or --generate KIND");
    }
    std::vector<Recipe> recipes =
        load_recipes(arguments.recipes.empty() ? shipped_recipes() : arguments.recipes, arguments.changes);
    for (const Recipe& recipe : recipes) {
        if (recipe.matrix != recipes.front().matrix) throw RecipeError("one matrix at a time; found a sweep over several");
    }
    return recipes;
}

void check_out(const std::string& out, const std::string& json) {
    std::error_code unknown;
    if (fs::is_regular_file(out, unknown) || fs::is_directory(out, unknown)) {
        throw RecipeError(fmt::format("{}: is there already; name another file for the recipe with --out", out));
    }
    if (!json.empty() && fs::path(json).lexically_normal() == fs::path(out).lexically_normal()) {
        throw RecipeError(fmt::format("{}: named by both --out and --json; expected two files", out));
    }
    check_writable(out);
    if (!json.empty() && json != standard_output) check_writable(json);
}

ExitCode choose_recipe(const Arguments& arguments) {
    const KokkosRuntime kokkos;
    if (!std::isfinite(arguments.budget)) throw RecipeError("--budget: not a finite number");
    check_out(arguments.out, arguments.json);
    const std::vector<Recipe> recipes = recipes_of(arguments);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();

    ChooseOptions options;
    options.budget_seconds = arguments.budget;
    options.products = arguments.products;
    options.precision = arguments.precision == "f32" ? Precision::f32 : Precision::f64;
    options.always = 2;                  // CSR in both orders
    options.timing.minimum_seconds = 0;  // many recipes with few samples, rather than few with many
    options.backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    std::optional<KeepFolder> keep = keep_folder(arguments.keep, host->properties());
    options.keep = pointer_to(keep);
    const MatrixChoice& of = recipes.front().matrix;
    const auto [matrix, matrix_report] = load_matrix(of);
    const Orders orders = !arguments.recipes.empty()      ? Orders::own
                          : matrix.rows == matrix.columns ? Orders::others_of_square
                                                          : Orders::others;
    const std::vector<Recipe> candidates = candidates_of(catalogue(), recipes, of, orders);
    const Choice choice = [&, &input = matrix, &of_input = matrix_report] {
        const PrintsAside prints_aside;
        const Progress progress;
        options.progress = [&progress](const std::string& step) { progress.show(step); };
        Choice made = choose(input, catalogue(), {*host, gpu.get()}, candidates, options);
        for (RunReport& report : made.reports) {
            report.matrix = of_input;
            report.machine = describe_machine(host->properties());
            report.versions = versions();
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
    if (!choice.wrong) return ExitCode::ok;
    (void)std::fflush(stdout);  // both may go to one file
    fmt::print(stderr, "error: a result failed verification, see WRONG RESULT under 'Not timed'\n");
    return ExitCode::wrong_result;
}

}  // namespace

void add_choose_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("choose", "Find the fastest recipe for a matrix within a time, and when reordering pays");
    command
        ->add_option("recipe", arguments->recipes,
                     "Recipe files to choose from (default: those that come with the program, in several orders)")
        ->type_name("RECIPE");
    add_recipe_changes(*command, arguments->changes);
    add_sweeps(*command, arguments->changes);
    command
        ->add_option("--budget", arguments->budget,
                     "Seconds for reordering, building and timing, once the matrix is read; what is under way is finished")
        ->check(CLI::Range(0.1, 1e6))
        ->type_name("SECONDS")
        ->capture_default_str();
    command
        ->add_option("--products", arguments->products,
                     "How many products are wanted: choose what saves the most time in all (default: the fastest product)")
        ->check(CLI::Range(1.0, 1e15))
        ->type_name("COUNT");
    command->add_option("--precision", arguments->precision, "f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command
        ->add_option("--backend", arguments->backends,
                     "kokkos, eigen, cpu, or cuda, cusparse; eigen or cusparse is always there (default: the GPU's, if any)")
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->type_name("LIST");
    add_keep_option(*command, arguments->keep);
    command->add_option("-o,--out", arguments->out, "File for the recipe that is chosen; must not be there yet")
        ->type_name("FILE")
        ->capture_default_str();
    command
        ->add_option("--json", arguments->json,
                     "Also write all that was measured to this file; -: to standard output, and nothing else there")
        ->type_name("FILE");
    command->callback([arguments, &action] { action = [arguments] { return choose_recipe(*arguments); }; });
}

}  // namespace workbench
