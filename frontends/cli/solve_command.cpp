// workbench solve: solves A x = b with recipes and compares their total times.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/text_table.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/distributed.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/bench/tell_apart.hpp"
#include "studies/solve/solve_recipes.hpp"

namespace workbench {
namespace {

struct SolveArguments : SharedArguments {
    SolveArguments() { out = "out/solve"; }
    std::vector<std::string> tune;
    std::string method = "cg";
    std::string preconditioner = "none";
    std::string engine = "auto";
    std::string rhs = "ones";
    std::string rhs_member;
    PaperColumn column;  // of the plots
    std::uint32_t seed = 1;
    std::optional<double> tolerance;
    std::int64_t iterations = 10000;
    std::int64_t patience = 1000;
    std::int64_t solves = 1;
    int right_sides = 1;
};

/// The recipes, which all use the same matrix.
struct Recipes {
    std::vector<Recipe> solve;
    std::vector<Recipe> tune;
    MatrixChoice matrix;
};

/// Throws if a file is named twice, which would print two rows of one name.
void check_different(const std::vector<Recipe>& recipes) {
    std::set<std::pair<std::filesystem::path, std::string>> known;
    for (const Recipe& recipe : recipes) {
        if (known.emplace(recipe.file.lexically_normal(), recipe.sweep.label).second) continue;
        throw RecipeError(fmt::format("{}: this recipe is named twice; expected it once", recipe.file.string()));
    }
}

Recipes recipes_of(const SolveArguments& arguments) {
    std::vector<std::string> files = arguments.recipes;
    files.insert(files.end(), arguments.tune.begin(), arguments.tune.end());
    if (files.empty()) throw RecipeError("no recipe; name recipes to solve with, or recipes to try after --tune");
    for (const std::string& file : arguments.tune) {
        if (file.starts_with("--")) throw RecipeError("--tune needs recipes; found the option " + file);
    }
    Recipes recipes;
    std::size_t number = 0;
    for (std::vector<Recipe>& points : load_each(files, arguments.changes)) {
        std::vector<Recipe>& list = number++ < arguments.recipes.size() ? recipes.solve : recipes.tune;
        for (Recipe& recipe : points) {
            if (number == 1 && list.empty()) recipes.matrix = recipe.matrix;
            if (recipe.matrix != recipes.matrix) {
                if (number == 1) throw RecipeError("expected one matrix, found a sweep over several");
                throw RecipeError(
                    fmt::format("{} and {} name different matrices, but all recipes solve one system; choose it with --matrix "
                                "or --generate",
                                files.front(), files[number - 1]));
            }
            if (!recipe.sweep.label.empty()) recipe.name += ": " + recipe.sweep.label;
            list.push_back(std::move(recipe));
        }
    }
    for (std::vector<Recipe>* list : {&recipes.solve, &recipes.tune}) {
        check_different(*list);
        set_preparation(arguments.prepare, *list);
    }
    tell_names_apart(recipes.solve);
    tell_names_apart(recipes.tune);
    return recipes;
}

RightHandSide right_hand_side_of(const SolveArguments& arguments) {
    if (!arguments.rhs_member.empty() && (arguments.rhs == "ones" || arguments.rhs == "random")) {
        throw RecipeError(
            fmt::format("--rhs-member {}: --rhs {} has no members; expected --rhs FILE", arguments.rhs_member, arguments.rhs));
    }
    if (arguments.rhs == "ones") return {RightHandSide::Kind::ones, arguments.seed};
    if (arguments.rhs == "random") return {RightHandSide::Kind::random, arguments.seed};
    if (std::error_code ignored; !std::filesystem::exists(arguments.rhs, ignored)) {
        throw InputError(
            fmt::format("--rhs {}: no such file; expected ones, random, or a file with the numbers of b", arguments.rhs));
    }
    return {RightHandSide::Kind::file, arguments.seed, arguments.rhs, arguments.rhs_member};
}

/// Throws RecipeError for options that do not go with several right-hand sides.
void check_right_sides(const SolveArguments& arguments) {
    if (arguments.right_sides == 1) return;
    const auto refuse = [](const std::string& what) { throw RecipeError("--right-sides does not support " + what); };
    if (arguments.method != "cg") refuse("--method " + arguments.method + "; expected cg");
    if (arguments.engine == "persistent") refuse("--engine persistent; expected graph or auto");
    if (!arguments.tune.empty()) refuse("--tune");
    if (arguments.distributed) refuse("--distributed");
}

SolveOptions options_of(const SolveArguments& arguments) {
    check_right_sides(arguments);
    SolveOptions options;
    options.right_sides = arguments.right_sides;
    options.method = arguments.method == "cg" ? KrylovMethod::cg : KrylovMethod::bicgstab;
    options.jacobi = arguments.preconditioner == "jacobi";
    if (arguments.engine == "auto") options.engine = SolveEngine::automatic;
    if (arguments.engine == "persistent") options.engine = SolveEngine::persistent;
    // The accuracy that the precision allows for well-conditioned matrices.
    options.tolerance = arguments.tolerance.value_or(arguments.precision == "f32" ? 1e-4 : 1e-8);
    check_finite("--tolerance", options.tolerance);
    options.most_iterations = arguments.iterations;
    options.patience = arguments.patience;
    options.solves = arguments.solves;
    options.only = arguments.only;
    options.timing.minimum_seconds = 0;
    return options;
}

ExitCode solve_distributed(const SolveArguments& arguments) {
    if (arguments.method != "cg") throw RecipeError("--distributed supports --method cg only");
    const SolveOptions options = options_of(arguments);
    return run_distributed(arguments, options.timing.minimum_samples, DistributedSolve{options, right_hand_side_of(arguments)});
}

/// Returns true if the results should be written. If no recipe has solved anything, the results of an earlier solve in the
/// folder are kept.
bool writes_results(const SolveReport& report, const std::filesystem::path& folder) {
    std::error_code unknown;
    const bool any = std::any_of(report.outcomes.begin(), report.outcomes.end(),
                                 [](const SolveOutcome& one) { return one.preparation.kernel.verified(); });
    return any || !std::filesystem::exists(folder / "solve.json", unknown);
}

/// Writes what was solved, and prints it.
void write_solves(const SolveReport& report, const SolveArguments& arguments) {
    const std::filesystem::path folder = arguments.out;
    std::vector<std::string> files;
    if (writes_results(report, folder)) files = write_solve(report, folder, command_line(), arguments.column);
    if (!arguments.json.empty() && arguments.json != standard_output) write_whole_file(arguments.json, solve_json(report));
    if (arguments.json == standard_output) {
        fmt::print("{}", solve_json(report));
    } else {
        const std::string written = fmt::format("Written to {}: {}\n", folder.string(), fmt::join(files, ", "));
        const std::string kept = fmt::format("The results of an earlier solve in {} are kept.\n", folder.string());
        print_text("{}\n{}", solve_text(report), wrapped(files.empty() ? kept : written));
    }
    for (const Failure& failure : report.failures) print_error("error: " + failure.text);
}

ExitCode run_solve(const SolveArguments& arguments) {
    if (arguments.distributed) return solve_distributed(arguments);
    const KokkosRuntime kokkos(print_error);
    const std::filesystem::path folder = arguments.out;
    for (const char* const written : {"solve.json", "solve.html"}) check_results_file("--out", (folder / written).string());
    check_results_file("--json", arguments.json);
    const Recipes recipes = recipes_of(arguments);
    const RightHandSide right_hand_side = right_hand_side_of(arguments);
    const SolveOptions options = options_of(arguments);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();
    const std::vector<Backend> backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    const bool on_gpu = device_of(backends.front()) == DeviceKind::gpu;
    Device& device = on_gpu ? *gpu : *host;
    if (!on_gpu && options.engine == SolveEngine::persistent) {
        throw MachineError("--engine persistent needs a GPU; these solves run on " + device.properties().name);
    }

    std::optional<KeepFolder> keep = keep_folder(arguments.keep, *host);

    auto [matrix, matrix_report] = load_matrix(recipes.matrix);
    SolveReport report;
    report.matrix = matrix_report;
    report.precision = precision_named(arguments.precision);
    report.options = options;
    report.device = device.properties();
    add_provenance(report, *host, device.properties().kind == DeviceKind::gpu);
    report.options.poll = stop_if_requested;
    RightHandSides sides = make_right_hand_sides(right_hand_side, matrix.rows, options.right_sides);
    report.right_hand_side = std::move(sides.text);
    const Interruption interruption;
    bool stopped = false;
    {
        const StdoutToStderr redirection;
        const Progress progress;
        SolvePlan plan{.matrix = matrix,
                       .b = std::move(sides.columns.front()),
                       .catalogue = catalogue(),
                       .device = device,
                       .backends = backends};
        plan.more_b.assign(std::move_iterator(sides.columns.begin() + 1), std::move_iterator(sides.columns.end()));
        plan.progress = [&progress](const std::string& step) {
            stop_if_requested();
            progress.show(step);
        };
        plan.tune_with = recipes.tune;
        // Written after each solve, so that results survive an interruption.
        plan.reported = [&] {
            if (writes_results(report, folder)) write_whole_file(folder / "solve.json", solve_json(report));
        };
        plan.keep = pointer_to(keep);
        if (on_gpu) plan.make_device = make_cuda_device;
        try {
            solve_recipes(plan, recipes.solve, report);
        } catch (const Stopped&) {
            if (report.outcomes.empty()) throw Stopped("stopped: nothing was solved, and nothing was written");
            stopped = true;
        }
    }
    const std::size_t wanted = 1 + recipes.solve.size() + (recipes.tune.empty() ? 0 : 1);
    write_solves(report, arguments);
    if (!stopped) return exit_code_of(report);
    print_error(fmt::format("stopped: {} of {} solves are kept in {}", report.outcomes.size(), wanted, folder.string()));
    return ExitCode::stopped;
}

}  // namespace

void add_solve_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "solve", "Solve A x = b with recipes: residuals, time including set-up, and break-even", run_solve);
    command.add_option("recipe", arguments.recipes, "Recipe files; each solves the same system")->type_name("RECIPE");
    command
        .add_option("--tune", arguments.tune,
                    "Also solve starting with CSR, trying these recipes during the iterations and keeping faster ones")
        ->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    add_choice(command, "--method", arguments.method, {"cg", "bicgstab"},
               "cg: conjugate gradients, for symmetric positive definite matrices; bicgstab: for general matrices");
    add_choice(command, "--preconditioner", arguments.preconditioner, {"none", "jacobi"},
               "none, or jacobi: the inverse of the diagonal");
    add_choice(command, "--engine", arguments.engine, {"graph", "persistent", "auto"},
               "graph: one kernel after another; persistent: one kernel that stays on the GPU; auto: the one that "
               "takes less time in all, by a model");
    add_choice(command, "--precision", arguments.precision, {"f32", "f64"},
               "Precision of matrix and vectors; reductions are always f64");
    command
        .add_option(
            "--rhs", arguments.rhs,
            "Right-hand side b: ones, random, or a file: a number per line, .npy, a matrix with one column, or an archive with "
            "NAME_b.mtx")
        ->type_name("WHICH|FILE")
        ->capture_default_str();
    add_number(command, "--right-sides", arguments.right_sides, Range{1, most_vectors, "COUNT"},
               "Solve for COUNT right-hand sides together by cg: that of --rhs and random ones, or the columns of its file");
    command.add_option("--rhs-member", arguments.rhs_member, "File to read b from in an archive, .mat or .h5")
        ->type_name("NAME");
    command.add_option("--seed", arguments.seed, "Seed of a random b, and of the first of several")
        ->type_name("NUMBER")
        ->capture_default_str();
    add_number(command, "--tolerance", arguments.tolerance, Range{0.0, 1.0, "NUMBER"},
               "Stop when |b - A x| / |b| is below this (default: 1e-8, or 1e-4 in f32)");
    add_number(command, "--iterations", arguments.iterations, Range{std::int64_t{1}, std::int64_t{10000000}, "COUNT"},
               "Maximum number of iterations");
    add_number(command, "--patience", arguments.patience, Range{std::int64_t{1}, std::int64_t{10000000}, "COUNT"},
               "Give up when this many iterations have not reduced the residual by 1 %");
    add_number(command, "--solves", arguments.solves, Range{std::int64_t{1}, std::int64_t{1000000000}, "COUNT"},
               "Number of solves planned with this matrix, for the choice of --engine auto");
    add_backends(command, arguments.backends,
                 "Backends of one device for the recipes; the baseline has its own (default: the GPU's, if any)");
    command.add_option("--only", arguments.only, "Use the kernel of this name in recipes that have it")->type_name("KERNEL");
    add_keep_option(command, arguments.keep);
    add_distributed_options(command, arguments);
    add_prepare_option(command, arguments.prepare);
    command.add_option("--out", arguments.out, "Folder for solve.json, residuals.csv, solve.html and plots")
        ->type_name("FOLDER")
        ->capture_default_str();
    add_paper_options(command, arguments.column, plots_in_column);
    exclude_from_distributed(command, {"--tune", "--keep", "--column"});
    command.add_option("--json", arguments.json, "Also write solve.json to this file; -: print it instead of the tables")
        ->type_name("FILE");
}

}  // namespace workbench
