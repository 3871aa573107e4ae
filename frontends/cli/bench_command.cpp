// workbench bench
#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/bench_machine.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/suite_matrices.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/device/cuda_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/space.hpp"
#include "pipeline/recipe/suite.hpp"
#include "studies/bench/bench.hpp"
#include "studies/bench/bench_page.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/records.hpp"

namespace workbench {
namespace {

struct BenchArguments {
    std::vector<std::string> files;  // one suite, or recipes
    std::vector<std::string> matrices;
    std::vector<std::string> generated;
    RecipeChanges changes;
    std::string out;
    std::vector<std::string> done;
    std::string shard;
    std::optional<std::size_t> points;
    std::string precision;
    std::vector<std::string> backends;
    std::string cache;
    std::string inside;
    int vectors = 1;
    std::optional<int> samples;
    std::optional<double> seconds;
    std::optional<double> limit;
    bool keep_samples = false;
    bool retry = false;
    bool no_page = false;
    std::string keep;
    std::string prepare = as_recipes_ask;
};

std::vector<Backend> backends_for(const BenchArguments& arguments, const Suite& suite, bool gpu) {
    std::vector<Backend> wanted = suite.backends;
    if (!arguments.backends.empty()) wanted.clear();
    const std::array all{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    for (const Backend backend : all) {
        const auto named = std::find(arguments.backends.begin(), arguments.backends.end(), name_of(backend));
        if (named != arguments.backends.end()) wanted.push_back(backend);
    }
    if (wanted.empty()) wanted.assign(all.begin(), all.end());
    std::erase_if(wanted, [gpu](Backend backend) { return !gpu && device_of(backend) == DeviceKind::gpu; });
    if (wanted.empty()) throw MachineError("all of the requested backends need a GPU: " + cuda_absence_reason());
    return wanted;
}

/// The recipes of the files, with the points of sweeps and of spaces.
std::vector<Recipe> load_recipes_and_points(const Suite& suite, const BenchArguments& arguments) {
    constexpr std::size_t default_points = 20;
    std::vector<std::string> files;
    std::vector<Recipe> points;
    bool has_space = false;
    for (const SuiteItem& item : suite.recipes) {
        const std::filesystem::path file = find_recipe(item.text);
        if (!is_space(file)) {
            files.push_back(item.text);
            continue;
        }
        has_space = true;
        const Space space = load_space(file, catalogue(), arguments.changes);
        for (Recipe& point : spread_points(space, arguments.points.value_or(default_points)))
            points.push_back(std::move(point));
    }
    if (arguments.points && !has_space) {
        throw RecipeError("--points: none of the files is a space; expected a file with a table [space]");
    }
    std::vector<Recipe> recipes = files.empty() ? std::vector<Recipe>{} : load_recipes(files, arguments.changes);
    std::move(points.begin(), points.end(), std::back_inserter(recipes));
    return recipes;
}

std::vector<BenchRecipe> recipes_of(const Suite& suite, const BenchArguments& arguments, const std::vector<Backend>& backends,
                                    bool gpu) {
    std::vector<BenchRecipe> recipes;
    std::map<std::string, std::string> names;
    for (Recipe& recipe : load_recipes_and_points(suite, arguments)) {
        const std::string file = recipe.file.string();
        if (!recipe.sweep.label.empty()) recipe.name += ": " + recipe.sweep.label;
        const auto [other, is_new] = names.emplace(recipe.name, file);
        if (!is_new) {
            throw RecipeError(fmt::format("{} and {} have the same name, '{}'; rename one so that the tables distinguish them",
                                          other->second, file, recipe.name));
        }
        recipes.push_back({.recipe = std::move(recipe), .file = file, .backends = backends});
    }
    std::vector<BenchRecipe> baselines = baseline_recipes(catalogue(), backends, gpu);
    for (BenchRecipe& baseline : baselines) recipes.push_back(std::move(baseline));
    return recipes;
}

/// The suite file, or a suite of the recipe files, with the command line's options applied.
Suite suite_of(const BenchArguments& arguments) {
    Suite suite;
    const std::filesystem::path first = find_recipe(arguments.files.front());
    if (arguments.files.size() == 1 && is_suite(first)) {
        suite = load_suite(first);
    } else {
        suite.name = "bench";
        for (const std::string& file : arguments.files) {
            if (is_suite(find_recipe(file))) throw RecipeError(file + ": this is a suite; expected one suite or only recipes");
            suite.recipes.push_back({file, ""});
        }
    }
    if (!arguments.matrices.empty() || !arguments.generated.empty()) {
        suite.matrices.clear();
        for (const std::string& matrix : arguments.matrices) suite.matrices.push_back({matrix, ""});
        // With folders to search for the suite's named matrices, its generated matrices stay part of it.
        if (suite.named.empty() || !arguments.generated.empty() || names_files_alone(suite)) suite.generated.clear();
        for (const std::string& kind : arguments.generated) suite.generated.push_back({kind, ""});
    }
    if (arguments.precision == "f32") suite.precisions = {Precision::f32};
    if (arguments.precision == "f64") suite.precisions = {Precision::f64};
    if (arguments.precision == "both") suite.precisions = {Precision::f64, Precision::f32};
    if (!arguments.cache.empty()) {
        suite.cache = arguments.cache;
        suite.inside.clear();
    }
    if (!arguments.inside.empty()) suite.inside = arguments.inside;
    if (arguments.samples) suite.samples = *arguments.samples;
    if (arguments.seconds) suite.seconds = *arguments.seconds;
    if (arguments.limit) suite.limit_seconds = *arguments.limit;
    check_finite("--seconds", suite.seconds);
    check_finite("--limit", suite.limit_seconds);
    return suite;
}

/// bench.html beside bench.jsonl; empty if there is no page, because the results go to a device or pipe.
std::string page_beside(const std::filesystem::path& lines) {
    std::error_code unknown;
    const bool kept = std::filesystem::is_regular_file(lines, unknown) || !std::filesystem::exists(lines, unknown);
    if (!kept || lines.extension() == ".html") return "";
    return std::filesystem::path(lines).replace_extension(".html").string();
}

/// The file of the results: NAME.jsonl, or NAME.3of16.jsonl of a shard, unless --out names it.
std::string results_file_for(const BenchArguments& arguments, const Suite& suite, const std::optional<Shard>& shard) {
    if (!arguments.out.empty()) return arguments.out;
    return shard ? fmt::format("{}.{}of{}.jsonl", suite.name, shard->number, shard->count) : suite.name + ".jsonl";
}

/// Counts the lines of the files and folders of --done as measured.
void count_done(const std::vector<std::string>& done, ResultsFile& results) {
    for (const std::string& path : done) {
        std::error_code unknown;
        if (!std::filesystem::is_directory(path, unknown)) {
            results.count_lines_of(path);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.path().extension() == ".jsonl") results.count_lines_of(entry.path());
        }
    }
}

/// All but the matrices. Throws what would otherwise be thrown in each child process.
BenchPlan plan_of(const BenchArguments& arguments, const Suite& suite, const BenchMachine& machine) {
    BenchPlan plan;
    plan.recipes = recipes_of(suite, arguments, backends_for(arguments, suite, machine.gpu), machine.gpu);
    plan.precisions = suite.precisions;
    plan.run_options = {"--samples", fmt::format("{}", suite.samples), "--seconds", fmt::format("{}", suite.seconds)};
    const bool inside = !suite.inside.empty();
    plan.run_options.insert(plan.run_options.end(), {inside ? "--inside" : "--cache", inside ? suite.inside : suite.cache});
    if (arguments.vectors > 1) {
        if (inside)
            throw RecipeError("--vectors: products inside CG have one vector; expected no --inside, and a suite without it");
        plan.run_options.insert(plan.run_options.end(), {"--vectors", std::to_string(arguments.vectors)});
    }
    std::vector<Recipe> recipes;
    for (const BenchRecipe& each : plan.recipes) recipes.push_back(each.recipe);
    set_preparation(arguments.prepare, recipes);
    if (arguments.prepare != as_recipes_ask) {
        plan.run_options.insert(plan.run_options.end(), {"--prepare", arguments.prepare});
    }
    plan.limit_seconds = suite.limit_seconds;
    plan.keep_samples = arguments.keep_samples;
    if (!arguments.keep.empty()) (void)KeepFolder(arguments.keep, "");
    plan.keep = arguments.keep;
    plan.program = std::filesystem::read_symlink("/proc/self/exe");
    plan.version = program_identity();
    plan.device = machine.devices;
    plan.software = software_text(machine.gpu);
    return plan;
}

/// Prints what a bench has measured, and writes its page, if it has one.
ExitCode report_bench(const BenchCount& count, const std::vector<Record>& records, const std::string& title,
                      const std::string& out, const std::string& page) {
    if (!records.empty()) print_text("\n{}{}", ranking_text(records), prices_text(records));
    if (!page.empty() && !records.empty()) write_whole_file(page, bench_page(records, title, command_line()));
    if (count.stopped) {
        print_text("Repeat the command for the rest.\n");
        return ExitCode::stopped;
    }
    if (count.wrong > 0) return ExitCode::wrong_result;
    const auto has = [&records](const char* status) {
        return std::any_of(records.begin(), records.end(), [&](const Record& record) { return record.status == status; });
    };
    if (has("measured") || !has("failed")) return ExitCode::ok;
    print_error(fmt::format("error: every measurement failed; {} has the reasons, and --retry repeats them", out));
    return ExitCode::incomplete;
}

ExitCode run_bench(const BenchArguments& arguments) {
    const Suite suite = suite_of(arguments);
    const BenchMachine machine = bench_machine();
    BenchPlan plan = plan_of(arguments, suite, machine);
    const SuiteMatrices matrices = matrices_of(suite, arguments.files.front());
    const std::optional<Shard> shard = read_shard(arguments.shard);
    plan.matrices = shard ? matrices_of_shard(matrices.here, *shard) : matrices.here;
    const std::string out = results_file_for(arguments, suite, shard);
    const std::string page = arguments.no_page ? "" : page_beside(out);
    check_results_file("--out", page);
    ResultsFile results(out, arguments.retry);
    if (results.was_truncated()) print_error(fmt::format("{}: the last line was incomplete; it is measured again", out));
    count_done(arguments.done, results);
    if (shard) {
        print_error(
            fmt::format("shard {}: {} of {}", arguments.shard, plan.matrices.size(), counted(matrices.here.size(), "matrix")));
    }
    const Interruption interruption;
    const BenchCount count = bench(plan, results, {print_error, Interruption::requested});
    print_text("{}{} measured, {} unsuitable, {} wrong, {} failed, {} already measured; written to {}\n",
               count.stopped ? "stopped: " : "", count.measured, count.unsuitable, count.wrong, count.failed,
               count.already_measured, out);
    if (matrices.missing > 0) {
        print_text("{} of the suite's {} matrices were missing\n", matrices.missing, suite.named.size());
    }
    std::vector<Record> records;
    if (std::error_code unknown; std::filesystem::file_size(out, unknown) > 0 && !unknown) add_records({out}, records);
    return report_bench(count, records, suite.name, out, page);
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "bench",
                    "Run recipes on many matrices, one process per matrix, and append the results to a file", run_bench);
    command.add_option("suite", arguments.files, "A suite (TOML with [suite]), or recipe and space files")
        ->required()
        ->type_name("SUITE|RECIPE|SPACE");
    command
        .add_option("--matrices", arguments.matrices,
                    fmt::format("Matrix files and folders of matrices to use instead of the suite's; if the suite names "
                                "matrices, folders to search for them: {}",
                                readable_files))
        ->type_name("DIR|FILE");
    command.add_option("--generate", arguments.generated, "Also use a generated matrix: laplace2d:nx=300,ny=300")
        ->allow_extra_args(false)
        ->type_name("KIND[:NAME=VALUE,...]");
    add_overrides(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    command
        .add_option("--out", arguments.out,
                    "File to append results to; measurements it already has are skipped (default: NAME.jsonl of the suite)")
        ->type_name("FILE");
    command
        .add_option("--done", arguments.done,
                    "Also skip measurements in these files of other benches, or in the .jsonl files of these folders")
        ->type_name("FILE|FOLDER");
    command
        .add_option(
            "--shard", arguments.shard,
            "Run part NUMBER of COUNT of the matrices, for the jobs of a cluster (default file: NAME.NUMBERofCOUNT.jsonl)")
        ->type_name("NUMBER/COUNT")
        ->check([](const std::string& text) {
            return read_shard(text)
                       ? std::string()
                       : fmt::format("found {}, expected NUMBER/COUNT, as 3/16, with NUMBER from 1 to COUNT", text);
        });
    add_number(command, "--points", arguments.points, Range<std::size_t>{1, 100000, "COUNT"},
               "Measure COUNT points of each space, evenly spread (default: 20)");
    add_choice(command, "--precision", arguments.precision, {"f32", "f64", "both"},
               "f32, f64 or both (default: the suite's, or f64)");
    add_backends(command, arguments.backends, "Use only these backends (default: all available)");
    CLI::Option* cache = add_choice(command, "--cache", arguments.cache, {"cold", "warm"},
                                    "cold or warm, as for run (default: the suite's, or warm)");
    add_choice(command, "--inside", arguments.inside, {"cg"}, "cg: time products within CG iterations, as for run")
        ->excludes(cache);
    add_number(command, "--vectors", arguments.vectors, Range{1, most_vectors, "COUNT"},
               "Multiply COUNT vectors at a time, as for run");
    add_number(command, "--samples", arguments.samples, Range{1, 1000000, "COUNT"},
               "Samples per kernel, as for run (default: the suite's, or 20)");
    add_number(command, "--seconds", arguments.seconds, Range{0.0, 3600.0, "SECONDS"},
               "Total time of a kernel's samples, as for run (default: the suite's, or 0.2)");
    add_number(command, "--limit", arguments.limit, Range{0.0, 1e7, "SECONDS"},
               "Time limit per matrix, for all recipes together (default: none)");
    add_keep_option(command, arguments.keep);
    add_prepare_option(command, arguments.prepare);
    command.add_flag("--keep-samples", arguments.keep_samples, "Store every sample");
    command.add_flag("--no-page", arguments.no_page, "Do not write an HTML page (bench.html for bench.jsonl)");
    command.add_flag("--retry", arguments.retry, "Repeat measurements that failed before");
}

}  // namespace workbench
