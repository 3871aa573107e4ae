// workbench bench
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/bench/bench.hpp"
#include "pipeline/bench/bench_page.hpp"
#include "pipeline/bench/ranking.hpp"
#include "pipeline/bench/records.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/command_line.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/keep.hpp"
#include "pipeline/cli/prepare.hpp"
#include "pipeline/cli/read_options.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/suite_matrices.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/recipe/suite.hpp"
#include "pipeline/run/kokkos_runtime.hpp"

namespace workbench {
namespace {

struct Arguments {
    std::vector<std::string> files;  // one suite, or recipes
    std::vector<std::string> matrices;
    std::vector<std::string> generated;
    RecipeChanges changes;
    std::string out;
    std::string precision;
    std::vector<std::string> backends;
    std::string cache;
    std::string inside;
    std::optional<int> samples;
    std::optional<double> seconds;
    std::optional<double> limit;
    bool keep_samples = false;
    bool retry = false;
    bool no_page = false;
    std::string keep;
    std::string prepare = as_recipes_ask;
};

volatile std::sig_atomic_t interrupted = 0;

/// While it lives, Ctrl-C and a friendly kill ask for an end instead of making one.
class Interruption {
public:
    Interruption() {
        struct sigaction action {};
        action.sa_handler = [](int) { interrupted = 1; };
        for (std::size_t i = 0; i < signals.size(); ++i) (void)sigaction(signals.at(i), &action, &before_.at(i));
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption() {
        for (std::size_t i = 0; i < signals.size(); ++i) (void)sigaction(signals.at(i), &before_.at(i), nullptr);
    }

private:
    static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 3> before_{};
};

struct Machine {
    std::string devices;
    bool gpu = false;
};

/// Asked for in a process of its own, so that this one holds neither threads nor a GPU's memory while others measure.
Machine machine_here() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw MachineError("no pipe to a process of its own");
    const pid_t process = fork();
    if (process < 0) throw MachineError("no process of its own can be started");
    if (process == 0) {
        close(ends[0]);
        const KokkosRuntime kokkos;
        const std::unique_ptr<Device> host = make_host_device();
        const std::unique_ptr<Device> gpu = make_cuda_device();
        std::string text = fmt::format("{} x {}", host->properties().processors, host->properties().name);
        text = (gpu == nullptr ? "-" : "+") + text + (gpu == nullptr ? "" : ", " + gpu->properties().name);
        const bool told = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 1024> buffer{};
    for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), count);
    close(ends[0]);
    int status = 0;
    (void)waitpid(process, &status, 0);
    if (status != 0 || text.empty()) throw MachineError("the devices of this machine cannot be asked");
    return {text.substr(1), text.front() == '+'};
}

std::vector<Backend> backends_for(const Arguments& arguments, const Suite& suite, bool gpu) {
    std::vector<Backend> wanted = suite.backends;
    if (!arguments.backends.empty()) wanted.clear();
    const std::array all{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    for (const Backend backend : all) {
        const auto named = std::find(arguments.backends.begin(), arguments.backends.end(), name_of(backend));
        if (named != arguments.backends.end()) wanted.push_back(backend);
    }
    const bool asked = !wanted.empty();
    if (!asked) wanted.assign(all.begin(), all.end());
    const auto erased = std::erase_if(wanted, [gpu](Backend backend) { return !gpu && device_of(backend) == DeviceKind::gpu; });
    if (asked && erased > 0 && wanted.empty()) {
        throw MachineError(fmt::format("backends for a GPU alone were asked for: {}", cuda_absence_reason()));
    }
    return wanted;
}

std::vector<BenchRecipe> recipes_of(const Suite& suite, const Arguments& arguments, const std::vector<Backend>& backends,
                                    bool gpu) {
    std::vector<std::string> files;
    for (const SuiteItem& item : suite.recipes) files.push_back(item.text);
    std::vector<BenchRecipe> recipes;
    std::map<std::string, std::string> names;
    for (Recipe& recipe : load_recipes(files, arguments.changes)) {
        const std::string file = recipe.file.string();
        if (!recipe.sweep.label.empty()) recipe.name += ": " + recipe.sweep.label;
        const auto [other, is_new] = names.emplace(recipe.name, file);
        if (!is_new) {
            throw RecipeError(
                fmt::format("{}: the recipe is called '{}', as that of {} is; name it otherwise, so that tables can "
                            "tell them apart",
                            file, recipe.name, other->second));
        }
        recipes.push_back({std::move(recipe), file, backends, false});
    }
    std::vector<BenchRecipe> baselines = baseline_recipes(catalogue(), backends, gpu);
    for (BenchRecipe& baseline : baselines) recipes.push_back(std::move(baseline));
    return recipes;
}

/// The suite of the command line: one file that is one, or recipes; options replace what it says.
Suite suite_of(const Arguments& arguments) {
    Suite suite;
    const std::filesystem::path first = find_recipe(arguments.files.front());
    if (arguments.files.size() == 1 && is_suite(first)) {
        suite = load_suite(first);
    } else {
        suite.name = "bench";
        for (const std::string& file : arguments.files) {
            if (is_suite(find_recipe(file))) throw RecipeError(file + ": a suite; expected recipes alone, or one suite");
            suite.recipes.push_back({file, ""});
        }
    }
    if (!arguments.matrices.empty() || !arguments.generated.empty()) {
        suite.matrices.clear();
        for (const std::string& matrix : arguments.matrices) suite.matrices.push_back({matrix, ""});
        // Named matrices are looked for elsewhere; those to be generated belong to the figure all the same.
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
    if (!std::isfinite(suite.seconds) || !std::isfinite(suite.limit_seconds)) {
        throw RecipeError("--seconds, --limit: not a finite number");
    }
    return suite;
}

void say(const std::string& line) { (void)std::fputs((line + '\n').c_str(), stderr); }

/// Beside the lines: bench.html of bench.jsonl. A device or pipe has nothing beside it.
void write_page(const std::filesystem::path& lines, const std::string& title, const std::vector<Record>& records) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(lines, unknown) || lines.extension() == ".html") return;
    std::filesystem::path page = lines;
    write_whole_file(page.replace_extension(".html"), bench_page(records, title, command_line()));
}

ExitCode run_bench(const Arguments& arguments) {
    const Suite suite = suite_of(arguments);
    const Machine machine = machine_here();
    BenchPlan plan;
    const std::vector<Backend> backends = backends_for(arguments, suite, machine.gpu);
    plan.recipes = recipes_of(suite, arguments, backends, machine.gpu);
    const SuiteMatrices matrices = matrices_of(suite, arguments.files.front());
    plan.matrices = matrices.here;
    plan.precisions = suite.precisions;
    plan.run_options = {"--samples", fmt::format("{}", suite.samples), "--seconds", fmt::format("{}", suite.seconds)};
    const bool inside = !suite.inside.empty();
    plan.run_options.insert(plan.run_options.end(), {inside ? "--inside" : "--cache", inside ? suite.inside : suite.cache});
    std::vector<Recipe> recipes;
    for (const BenchRecipe& each : plan.recipes) recipes.push_back(each.recipe);
    (void)preparer_for(arguments.prepare, recipes);  // here rather than in each process
    if (arguments.prepare != as_recipes_ask) {
        plan.run_options.insert(plan.run_options.end(), {"--prepare", arguments.prepare});
    }
    plan.limit_seconds = suite.limit_seconds;
    plan.keep_samples = arguments.keep_samples;
    if (!arguments.keep.empty()) (void)KeepFolder(arguments.keep, "");  // here rather than in each process
    plan.keep = arguments.keep;
    plan.program = std::filesystem::read_symlink("/proc/self/exe");
    plan.version = versions().at("workbench");
    plan.device = machine.devices;

    const std::string out = arguments.out.empty() ? suite.name + ".jsonl" : arguments.out;
    ResultsFile results(out, arguments.retry);
    if (results.was_torn()) say(fmt::format("{}: the last line broke off; it is measured again", out));
    const Interruption interruption;
    const BenchCount count = bench(plan, results, {say, [] { return interrupted != 0; }});
    const int now = count.measured + count.unsuitable + count.wrong + count.failed;
    fmt::print("{}{} measured, {} unsuitable, {} wrong, {} failed, {} were there; written to {}\n",
               count.stopped ? "stopped: " : "", count.measured, count.unsuitable, count.wrong, count.failed, count.there, out);
    if (matrices.missing > 0) {
        fmt::print("{} of the {} matrices that the suite names were missing\n", matrices.missing, suite.named.size());
    }
    std::vector<Record> records;
    add_records(out, records);
    fmt::print("\n{}{}", ranking_text(records), prices_text(records));
    if (!arguments.no_page) write_page(out, suite.name, records);
    if (count.stopped) {
        fmt::print("The same command goes on after these {}.\n", now + count.there);
        return ExitCode::stopped;
    }
    return count.wrong > 0 ? ExitCode::wrong_result : ExitCode::ok;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("bench", "Run recipes on many matrices, one process a matrix, into a file of lines");
    command->add_option("suite", arguments->files, "A suite (TOML with [suite]), or recipe files")
        ->required()
        ->type_name("SUITE|RECIPE");
    command
        ->add_option("--matrices", arguments->matrices,
                     fmt::format("Matrix files, and folders with all in them, in place of the suite's (where it names "
                                 "matrices, folders are to look for those): {}",
                                 readable_files))
        ->type_name("DIR|FILE");
    command->add_option("--generate", arguments->generated, "Generated matrices too: laplace2d:nx=300,ny=300")
        ->allow_extra_args(false)
        ->type_name("KIND[:NAME=VALUE,...]");
    command
        ->add_option("--set", arguments->changes.overrides, "Override a parameter: stage.ID.NAME=VALUE, layout.NAME=VALUE, ...")
        ->type_name("WHAT=VALUE")
        ->allow_extra_args(false);
    add_sweeps(*command, arguments->changes);
    command
        ->add_option("--out", arguments->out,
                     "File that lines are added to; what it has is not measured again (default: NAME.jsonl of the suite)")
        ->type_name("FILE");
    command->add_option("--precision", arguments->precision, "f32, f64 or both (default: the suite's, or f64)")
        ->check(CLI::IsMember({"f32", "f64", "both"}))
        ->type_name("WHICH");
    command
        ->add_option("--backend", arguments->backends,
                     "Only these backends: kokkos, eigen, cpu, cuda, cusparse (default: all there are)")
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
    CLI::Option* cache =
        command->add_option("--cache", arguments->cache, "cold or warm, as for run (default: the suite's, or cold)")
            ->check(CLI::IsMember({"cold", "warm"}))
            ->type_name("WHICH");
    command->add_option("--inside", arguments->inside, "cg: each product in an iteration of it, as for run")
        ->check(CLI::IsMember({"cg"}))
        ->type_name("METHOD")
        ->excludes(cache);
    command->add_option("--samples", arguments->samples, "Timed rounds, as for run (default: the suite's, or 20)")
        ->check(CLI::Range(1, 1000000))
        ->type_name("COUNT");
    command->add_option("--seconds", arguments->seconds, "Sum of a kernel's samples, as for run (default: the suite's, or 0.2)")
        ->check(CLI::Range(0.0, 3600.0))
        ->type_name("SECONDS");
    command->add_option("--limit", arguments->limit, "Wall time that a matrix may take with all its recipes (default: none)")
        ->check(CLI::Range(0.0, 1e7))
        ->type_name("SECONDS");
    add_keep_option(*command, arguments->keep);
    add_prepare_option(*command, arguments->prepare);
    command->add_flag("--keep-samples", arguments->keep_samples, "Keep every sample in the lines");
    command->add_flag("--no-page", arguments->no_page, "Write no page beside the lines (bench.html of bench.jsonl)");
    command->add_flag("--retry", arguments->retry, "Measure again what failed before");
    command->callback([arguments, &action] { action = [arguments] { return run_bench(*arguments); }; });
}

}  // namespace workbench
