// workbench solve: A x = b with recipes, and what they are worth to someone who iterates.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/aside.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/distributed.hpp"
#include "pipeline/cli/keep.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/prepare.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/solve/solve_recipes.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

constexpr const char* standard_output = "-";

struct Arguments {
    std::vector<std::string> recipes;
    std::vector<std::string> tune;
    RecipeChanges changes;
    std::string method = "cg";
    std::string preconditioner = "none";
    std::string precision = "f64";
    std::vector<std::string> backends;
    std::string only;
    std::string rhs = "ones";
    std::uint32_t seed = 1;
    std::optional<double> tolerance;
    std::int64_t iterations = 10000;
    std::int64_t patience = 1000;
    std::string out = "out/solve";
    std::string json;
    std::string keep;
    DistributedArguments distributed;
    std::string prepare = as_recipes_ask;
};

/// All on one matrix.
struct Recipes {
    std::vector<Recipe> solve;
    std::vector<Recipe> tune;
    MatrixChoice matrix;
};

Recipes recipes_of(const Arguments& arguments) {
    std::vector<std::string> files = arguments.recipes;
    files.insert(files.end(), arguments.tune.begin(), arguments.tune.end());
    if (files.empty()) throw RecipeError("no recipe to solve with; name some, or some to tune with after --tune");
    Recipes recipes;
    std::size_t number = 0;
    for (std::vector<Recipe>& points : load_each(files, arguments.changes)) {
        std::vector<Recipe>& list = number++ < arguments.recipes.size() ? recipes.solve : recipes.tune;
        for (Recipe& recipe : points) {
            if (number == 1 && list.empty()) recipes.matrix = recipe.matrix;
            if (recipe.matrix != recipes.matrix) {
                if (number == 1) throw RecipeError("one matrix at a time; found a sweep over several");
                throw RecipeError(fmt::format(
                    "{} and {} do not name the same matrix; all solve one system: give it with --matrix or --generate",
                    files.front(), files[number - 1]));
            }
            if (!recipe.sweep.label.empty()) recipe.name += ": " + recipe.sweep.label;
            list.push_back(std::move(recipe));
        }
    }
    return recipes;
}

RightHandSide right_hand_side_of(const Arguments& arguments) {
    if (arguments.rhs == "ones") return {RightHandSide::Kind::ones};
    if (arguments.rhs == "random") return {RightHandSide::Kind::random, arguments.seed};
    if (std::error_code ignored; !std::filesystem::exists(arguments.rhs, ignored)) {
        throw InputError(fmt::format("--rhs {}: there is no such file; expected ones, random, or a matrix file of one column",
                                     arguments.rhs));
    }
    return {RightHandSide::Kind::file, 0, arguments.rhs};
}

SolveOptions options_of(const Arguments& arguments) {
    SolveOptions options;
    options.method = arguments.method == "cg" ? KrylovMethod::cg : KrylovMethod::bicgstab;
    options.jacobi = arguments.preconditioner == "jacobi";
    // About what the precision holds of b - A x for matrices that are not too bad.
    options.tolerance = arguments.tolerance.value_or(arguments.precision == "f32" ? 1e-4 : 1e-8);
    if (!std::isfinite(options.tolerance)) throw RecipeError("--tolerance: not a finite number");
    options.most_iterations = arguments.iterations;
    options.patience = arguments.patience;
    options.only = arguments.only;
    options.timing.minimum_seconds = 0;
    return options;
}

ExitCode solve_distributed(const Arguments& arguments) {
    if (!arguments.tune.empty()) throw RecipeError("--tune is not for --distributed");
    if (arguments.method != "cg") throw RecipeError("--distributed solves with --method cg");
    if (!arguments.keep.empty()) throw RecipeError("--keep is not for --distributed");
    return run_distributed({.distributed = arguments.distributed,
                            .recipes = arguments.recipes,
                            .changes = arguments.changes,
                            .prepare = arguments.prepare,
                            .backends = arguments.backends,
                            .only = arguments.only,
                            .precision = arguments.precision == "f32" ? Precision::f32 : Precision::f64,
                            .samples = options_of(arguments).timing.minimum_samples,
                            .out = arguments.out,
                            .json = arguments.json,
                            .solve = DistributedRun::Solve{options_of(arguments), right_hand_side_of(arguments)}});
}

ExitCode solve(const Arguments& arguments) {
    if (arguments.distributed.on) return solve_distributed(arguments);
    const KokkosRuntime kokkos;
    const std::filesystem::path folder = arguments.out;
    check_writable(folder / "solve.json");
    if (!arguments.json.empty() && arguments.json != standard_output) check_writable(arguments.json);
    const Recipes recipes = recipes_of(arguments);
    const RightHandSide right_hand_side = right_hand_side_of(arguments);
    const SolveOptions options = options_of(arguments);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();
    const std::vector<Backend> backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    const bool on_gpu = device_of(backends.front()) == DeviceKind::gpu;
    Device& device = on_gpu ? *gpu : *host;

    std::optional<KeepFolder> keep = keep_folder(arguments.keep, host->properties());
    std::vector<Recipe> all = recipes.solve;
    all.insert(all.end(), recipes.tune.begin(), recipes.tune.end());
    const std::unique_ptr<Preparer> preparer = preparer_for(arguments.prepare, all);

    auto [matrix, matrix_report] = load_matrix(recipes.matrix);
    SolveReport report;
    report.matrix = matrix_report;
    report.right_hand_side = right_hand_side.text();
    report.precision = arguments.precision == "f32" ? Precision::f32 : Precision::f64;
    report.options = options;
    report.device = device.properties();
    report.machine = describe_machine(host->properties());
    report.versions = versions();
    std::vector<double> b = make_right_hand_side(right_hand_side, matrix.rows);
    {
        const PrintsAside prints_aside;
        const Progress progress;
        SolvePlan plan{matrix, std::move(b), catalogue(), device, backends};
        plan.tell = [&progress](const std::string& step) { progress.show(step); };
        plan.tune_with = recipes.tune;
        // After each, so that what was solved is there whatever ends the program.
        plan.reported = [&] { write_whole_file(folder / "solve.json", solve_json(report)); };
        plan.keep = pointer_to(keep);
        plan.preparer = preparer.get();
        if (on_gpu) plan.make_device = make_cuda_device;
        solve_recipes(plan, recipes.solve, report);
    }
    const std::vector<std::string> files = write_solve(report, folder);
    if (!arguments.json.empty() && arguments.json != standard_output) write_whole_file(arguments.json, solve_json(report));
    if (arguments.json == standard_output) {
        fmt::print("{}", solve_json(report));
    } else {
        fmt::print("{}\n{}", solve_text(report),
                   wrapped(fmt::format("Written to {}: {}\n", folder.string(), fmt::join(files, ", "))));
    }
    (void)std::fflush(stdout);  // both may go to one file
    for (const Failure& failure : report.failures) fmt::print(stderr, "error: {}\n", failure.text);
    return exit_code_of(report);
}

}  // namespace

void add_solve_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("solve", "Solve A x = b with the kernels of recipes: time with set-up, when it pays, residuals");
    command->add_option("recipe", arguments->recipes, "Recipe files; each solves the same system")->type_name("RECIPE");
    command
        ->add_option("--tune", arguments->tune,
                     "One more solve: it begins with CSR, tries these recipes while it runs, and keeps what is faster")
        ->type_name("RECIPE");
    add_recipe_changes(*command, arguments->changes);
    add_sweeps(*command, arguments->changes);
    command
        ->add_option("--method", arguments->method,
                     "cg: conjugate gradients, for symmetric positive definite matrices; bicgstab: for others")
        ->check(CLI::IsMember({"cg", "bicgstab"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->add_option("--preconditioner", arguments->preconditioner, "none, or jacobi: the inverse of the diagonal")
        ->check(CLI::IsMember({"none", "jacobi"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->add_option("--precision", arguments->precision, "Of matrix and vectors: f32 or f64; sums are f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->add_option("--rhs", arguments->rhs, "b: ones, random, or a matrix file of one column")
        ->type_name("WHICH|FILE")
        ->capture_default_str();
    command->add_option("--seed", arguments->seed, "Of the random b")->type_name("NUMBER")->capture_default_str();
    command
        ->add_option("--tolerance", arguments->tolerance,
                     "Converged where |b - A x| / |b| is below (default: 1e-8, in f32 1e-4)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("NUMBER");
    command->add_option("--iterations", arguments->iterations, "The most that a solve may take")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000000}))
        ->type_name("COUNT")
        ->capture_default_str();
    command
        ->add_option("--patience", arguments->patience,
                     "Stagnated where so many iterations bring no residual smaller by 1 % than before")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000000}))
        ->type_name("COUNT")
        ->capture_default_str();
    command
        ->add_option("--backend", arguments->backends,
                     "kokkos, eigen, cpu, or cuda, cusparse (default: the GPU's, if any); the baseline is always there")
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->type_name("LIST");
    command->add_option("--only", arguments->only, "The kernel of this name, where a recipe has it")->type_name("KERNEL");
    add_keep_option(*command, arguments->keep);
    add_distributed_options(*command, arguments->distributed);
    add_prepare_option(*command, arguments->prepare);
    command->add_option("--out", arguments->out, "Folder for solve.json, residuals.csv and plots of the residual")
        ->type_name("FOLDER")
        ->capture_default_str();
    command
        ->add_option("--json", arguments->json,
                     "Also write solve.json to this file; -: to standard output, and nothing else there")
        ->type_name("FILE");
    command->callback([arguments, &action] { action = [arguments] { return solve(*arguments); }; });
}

}  // namespace workbench
