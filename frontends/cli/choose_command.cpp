// workbench choose: finds the best recipe for a matrix.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/kept_calibration.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/supervised.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/control.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/space.hpp"
#include "studies/bench/results_file.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/search_page.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

struct ChooseArguments : SharedArguments {
    ChooseArguments() { out = "winner.toml"; }
    double budget = 60;
    std::optional<double> products;
    std::optional<double> solves;
    std::optional<double> iterations;
    int vectors = 1;
    bool force = false;
    std::string log;
    std::string page;
};

/// The recipes and the space to search.
struct Candidates {
    std::vector<Recipe> recipes = {};
    std::optional<Space> space = {};  // whose points are tried after the recipes
    fs::path space_file = {};
    MatrixChoice matrix;
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

Candidates candidates_for(const ChooseArguments& arguments) {
    if (arguments.recipes.empty() && !arguments.changes.matrix && !arguments.changes.generate) {
        throw RecipeError("no matrix; name one with --matrix FILE or --generate KIND, or a recipe or space that has one");
    }
    Candidates candidates;
    std::vector<std::string> files;
    for (const std::string& file : arguments.recipes) {
        const fs::path path = find_recipe(file);
        if (!is_space(path)) {
            files.push_back(file);
            continue;
        }
        if (candidates.space) {
            throw RecipeError(file + ": this is a second space; expected one space, and any number of recipes");
        }
        candidates.space = load_space(path, catalogue(), arguments.changes);
        candidates.space_file = path;
    }
    if (!candidates.space || !files.empty()) {
        candidates.recipes = load_recipes(arguments.recipes.empty() ? shipped_recipes() : files, arguments.changes);
        if (arguments.recipes.empty()) {  // a product that differs, and a control, must be requested
            std::erase_if(candidates.recipes,
                          [](const Recipe& recipe) { return rounding_of(recipe) != Rounding::none || is_control(recipe); });
        }
    }
    candidates.matrix = candidates.space ? candidates.space->matrix() : candidates.recipes.front().matrix;
    for (const Recipe& recipe : candidates.recipes) {
        if (recipe.matrix == candidates.matrix) continue;
        throw RecipeError(arguments.recipes.size() == 1
                              ? "expected one matrix, found a sweep over several"
                              : "the recipes name different matrices; choose one with --matrix FILE or "
                                "--generate KIND");
    }
    return candidates;
}

/// The output files differ from each other, and can be written.
void check_outputs(const ChooseArguments& arguments) {
    check_new(arguments.out, arguments.force);
    std::map<fs::path, std::string> taken;
    for (const auto& [option, file] : {std::pair{"--out", arguments.out}, std::pair{"--json", arguments.json},
                                       std::pair{"--log", arguments.log}, std::pair{"--page", arguments.page}}) {
        if (file.empty() || file == standard_output) continue;
        const auto [other, is_new] = taken.emplace(fs::path(file).lexically_normal(), option);
        if (is_new) continue;
        throw RecipeError(
            fmt::format("{}: {} and {} name the same file; expected two files", other->first.string(), other->second, option));
    }
    check_writable(arguments.out);
    check_results_file("--json", arguments.json);
    if (!arguments.page.empty() && fs::path(arguments.page).extension() != ".html") {
        throw RecipeError(fmt::format("--page {}: expected a name that ends in .html", arguments.page));
    }
    check_results_file("--page", arguments.page);
}

/// The part of the key that all lines of the log have in common.
BenchKey log_key(const MatrixChoice& matrix, const MatrixReport& report, const ChooseOptions& options, const Device& host,
                 const Device* gpu) {
    BenchKey key{
        .recipe = "", .matrix = report.source, .precision = options.precision, .program = "", .device = "", .options = ""};
    if (const auto* const file = std::get_if<MatrixFile>(&matrix.from)) {
        std::error_code unknown;
        key.matrix = file->path.filename().string() + (file->member.empty() ? "" : ":" + file->member);
        key.bytes = fs::file_size(file->path, unknown);
        if (unknown) key.bytes = 0;
    }
    key.program = program_identity();
    key.software = software_text(gpu != nullptr);
    const DeviceProperties& properties = (gpu == nullptr ? host : *gpu).properties();
    key.device = gpu == nullptr ? fmt::format("{} x {}", properties.processors, properties.name) : properties.name;
    key.options = fmt::format("choose, {},", conditions_of(options));
    for (const Backend backend : options.backends) key.options += fmt::format(" {}", name_of(backend));
    return key;
}

/// The files that a choice leaves, the chosen recipe first.
std::vector<std::string> files_of(const ChooseArguments& arguments) {
    std::vector<std::string> files;
    for (const std::string& file : {arguments.out, arguments.json, arguments.log, arguments.page}) {
        if (!file.empty()) files.push_back(file);
    }
    return files;
}

/// Writes the chosen recipe and the page, and prints the choice.
void write_choice(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                  const ChooseArguments& arguments) {
    write_whole_file(arguments.out, choice_recipe(choice, options));
    if (!arguments.page.empty()) write_whole_file(arguments.page, search_page(choice, options, matrix, command_line()));
    const std::string json = choice_json(choice, options, matrix, arguments.out);
    if (arguments.json == standard_output) {
        fmt::print("{}", json);
        return;
    }
    if (!arguments.json.empty()) write_whole_file(arguments.json, json);
    print_text("{}Written to {}\n", choice_text(choice, options, matrix), fmt::join(files_of(arguments), ", "));
}

/// WORKBENCH_HANG_SECONDS, if it is a positive number; otherwise `usual`.
double hang_seconds(double usual) {
    const char* const given = std::getenv("WORKBENCH_HANG_SECONDS");
    const double seconds = given == nullptr ? 0 : std::strtod(given, nullptr);
    return seconds > 0 && std::isfinite(seconds) ? seconds : usual;
}

/// Without what depends on devices, matrix and space.
ChooseOptions options_of(const ChooseArguments& arguments, double budget_seconds) {
    ChooseOptions options;
    options.budget_seconds = budget_seconds;
    options.products = arguments.products;
    if (arguments.iterations) {
        options.solves = arguments.solves.value_or(1);
        options.products = options.solves * *arguments.iterations;
        options.counts_solves = true;
    }
    options.precision = precision_named(arguments.precision);
    options.vectors = arguments.vectors;
    options.timing.minimum_seconds = 0;  // many recipes with few samples each
    options.ablate = true;
    options.hang_seconds = hang_seconds(options.hang_seconds);
    return options;
}

/// The recipes that are chosen among, apart from those of a space.
std::vector<Recipe> candidates_for(const CsrMatrix& matrix, const Candidates& candidates, const ChooseArguments& arguments) {
    const Orders orders = candidates.space || !arguments.recipes.empty() ? Orders::own
                          : matrix.rows == matrix.columns                ? Orders::others_of_square
                                                                         : Orders::others;
    std::vector<Recipe> recipes = candidates_of(catalogue(), candidates.recipes, candidates.matrix, orders);
    if (candidates.space) {
        for (Recipe& recipe : recipes) recipe.node_size = candidates.space->node_size();
    }
    return recipes;
}

/// Runs in a child process. `log`: what earlier runs and lost child processes have recorded.
ExitCode search(const ChooseArguments& arguments, const Candidates& candidates, SearchLog log, double budget_seconds) {
    const KokkosRuntime kokkos(print_error);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();

    ChooseOptions options = options_of(arguments, budget_seconds);
    options.always = candidates.space ? 1 : 2;  // CSR, and after RCM unless a space decides about it
    options.backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    std::optional<KeepFolder> keep = keep_folder(arguments.keep, *host);
    options.keep = pointer_to(keep);
    const auto [matrix, matrix_report] = load_matrix(candidates.matrix);
    const Device* const used = device_of(options.backends.front()) == DeviceKind::gpu ? gpu.get() : nullptr;
    const std::optional<Calibration> calibration = kept_calibration((used == nullptr ? *host : *used).properties());
    options.calibration = calibration ? &*calibration : nullptr;
    log.key = log_key(candidates.matrix, matrix_report, options, *host, used);
    options.log = &log;
    options.complete = [&, &of = matrix_report](RunReport& report) {
        report.matrix = of;
        add_provenance(report, *host, used != nullptr);
    };
    std::optional<Space> space;
    if (candidates.space) {
        const SpaceFacts facts = facts_of(matrix, candidates.space->node_size());
        options.space = &space.emplace(load_space(candidates.space_file, catalogue(), arguments.changes, &facts));
    }
    const std::vector<Recipe> recipes = candidates_for(matrix, candidates, arguments);
    const Interruption interruption;
    const Choice choice = [&, &input = matrix] {
        const StdoutToStderr redirection;
        const Progress progress;
        options.progress = [&progress](const std::string& step) {
            stop_if_requested();
            progress.show(step);
        };
        return choose(input, catalogue(), {*host, gpu.get()}, recipes, options);
    }();
    write_choice(choice, options, matrix_report, arguments);
    if (choice.wrong) {
        print_error("error: a kernel failed verification, see WRONG RESULT under 'Not timed'");
        return ExitCode::wrong_result;
    }
    if (!choice.stopped) return ExitCode::ok;
    print_error(fmt::format("stopped: this is the best of the {} recipes that were timed before", choice.ranking.size()));
    return ExitCode::stopped;
}

ExitCode choose_recipe(const ChooseArguments& arguments) {
    check_finite("--budget", arguments.budget);
    if (arguments.solves && !arguments.iterations) throw RecipeError("--solves needs --iterations, the number of each solve");
    if (arguments.products && arguments.iterations) {
        throw RecipeError("--products and --iterations both plan products; expected one of them");
    }
    check_outputs(arguments);
    const Candidates candidates = candidates_for(arguments);
    std::optional<ResultsFile> file;
    SearchLog log;
    if (!arguments.log.empty()) {
        file.emplace(arguments.log, false);
        if (file->was_truncated()) print_error(arguments.log + ": the last line was incomplete and is left out");
        log.file = arguments.log;
        log.lines = lines_of(arguments.log);
    }
    const auto record = [&](const std::string& line) {
        if (file) file->add("", line);
        log.lines.push_back(line);
    };
    std::optional<Stopwatch> since_first_step;
    std::map<std::string, std::string> unpriced;
    const auto work = [&](const Steps& steps) {
        SearchLog own = log;
        own.unpriced = unpriced;
        own.prices = &Steps::note;
        own.begin = [&steps](const std::string& line, double limit_seconds) { steps.begin(line, limit_seconds); };
        own.add = [&steps](const std::string& line) { steps.end(line); };
        // After a lost step, a tenth of the budget remains in any case, for the finalists.
        constexpr double least_share = 0.1;
        const double spent = since_first_step ? since_first_step->seconds() : 0;
        try {
            return search(arguments, candidates, std::move(own),
                          std::max(arguments.budget - spent, least_share * arguments.budget));
        } catch (const DeviceLost& lost) {
            steps.lose(lost.what());
            return ExitCode::machine_error;
        }
    };
    const auto ended = [&](const std::string& line) {
        if (!since_first_step) since_first_step.emplace();
        record(line);
    };
    const auto lost = [&](const std::string& step, const std::string& reason) {
        if (!since_first_step) since_first_step.emplace();
        const bool is_line = step.starts_with('{');  // otherwise the name of a recipe that was being priced
        const std::string name = is_line ? name_in_line(step) : step;
        const std::string what = is_line ? reason : "pricing it: " + reason;
        if (is_line) {
            record(crashed_line(step, reason));
        } else {
            unpriced[name] = what;
        }
        print_error(fmt::format("{}: {}; the search goes on without it", name, what));
    };
    return supervised(work, {ended, lost});
}

}  // namespace

void add_choose_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "choose", "Find the fastest recipe for a matrix within a time budget, and its break-even", choose_recipe);
    command
        .add_option(
            "recipe", arguments.recipes,
            "Recipe files to choose from, and a space to search after them (default: all installed recipes, in several orders)")
        ->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    add_number(command, "--budget", arguments.budget, Range{0.1, 1e6, "SECONDS"},
               "Time for preprocessing and timing, without reading the matrix; the recipe running at the end is finished");
    add_number(command, "--products", arguments.products, Range{1.0, 1e15, "COUNT"},
               "Number of products planned: choose the recipe that saves most time in total (default: the fastest recipe)");
    add_number(command, "--iterations", arguments.iterations, Range{1.0, 1e12, "COUNT"},
               "Iterations of conjugate gradients planned for each solve: choose the recipe that saves most time in total");
    add_number(command, "--solves", arguments.solves, Range{1.0, 1e12, "COUNT"},
               "Number of such solves with this matrix; each permutes b and x (default: 1)");
    add_vectors_option(command, arguments.vectors);
    add_choice(command, "--precision", arguments.precision, {"f32", "f64"}, "f32 or f64");
    add_backends(command, arguments.backends,
                 "Backends of one device; the baseline's (eigen, cusparse) is always included (default: the GPU's, if any)");
    add_keep_option(command, arguments.keep);
    command.add_option("-o,--out", arguments.out, "File for the chosen recipe")->type_name("FILE")->capture_default_str();
    add_force_option(command, arguments.force);
    command
        .add_option("--json", arguments.json, "Also write all measurements to this file; -: print them instead of the table")
        ->type_name("FILE");
    command
        .add_option("--log", arguments.log,
                    "Write a line for each recipe that is tried; if the file exists, continue its search (summary reads it)")
        ->type_name("FILE.jsonl");
    command.add_option("--page", arguments.page, "Write a page about the search: its tree, times against prices, the model")
        ->type_name("FILE.html");
}

}  // namespace workbench
