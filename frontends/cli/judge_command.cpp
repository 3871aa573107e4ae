// workbench judge
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/output/write_matrix.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/child.hpp"
#include "core/system/process.hpp"
#include "core/system/whole_file.hpp"
#include "frontends/cli/bench_machine.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/sanitizer.hpp"
#include "frontends/cli/suite_matrices.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/device/cuda_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/bench/bench.hpp"
#include "studies/bench/bench_page.hpp"
#include "studies/bench/judgement.hpp"
#include "studies/bench/results_file.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* confined_program = "workbench_confined";

/// Matrices on which kernels are timed; those of the battery, on which they are only verified, are small.
constexpr std::array timed_matrices{
    "laplace2d:nx=500",
    "laplace3d:nx=50,points=27",
    "elasticity3d:nx=16,scramble=1",
    "curlcurl3d:nx=22",
    "delaunay:nx=250,scramble=1",
    "finite_volume:nx=32",
    "banded:rows=150000,bandwidth=8",
    "random_uniform:rows=100000,shortest=0,longest=30",
    "random_normal:rows=40000,mean=40,deviation=15",
    "random_uniform:rows=1500,columns=150000,shortest=500,longest=1500",
    "random_laplacian:rows=100000,degree=8",
    "rmat:scale=15",
};
/// The workbench's recipes beside which a kernel is timed.
constexpr std::array rivals{"recipes/csr.toml",      "recipes/csr16.toml",        "recipes/sell.toml",
                            "recipes/rcm_sell.toml", "recipes/sell_c_sigma.toml", "recipes/block_sell.toml"};

struct JudgeArguments {
    std::string file;
    std::vector<std::string> matrices;
    std::vector<std::string> generated;
    RecipeChanges changes;
    std::vector<std::string> rivals;
    std::string precision = "f64";
    std::string out;
    std::string json;
    int samples = 20;
    double seconds = 0.2;
    double limit = 300;
    bool no_page = false;
};

bool is_cuda(const fs::path& file) { return file.extension() == ".cu"; }

/// A recipe that multiplies with the file's kernel over the arrays of CSR.
std::string recipe_text(const fs::path& file) {
    const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
    return fmt::format(
        "[recipe]\nname = {}\n[layout]\nuse = \"csr\"\n[kernel]\n{} = {}\naccumulate = false\nlimit_seconds = 10\n",
        quoted(file.stem().string()), is_cuda(file) ? "cuda_source" : "cpu_source", quoted(fs::absolute(file).string()));
}

/// The battery, each matrix in a file of the folder, and the matrices for timing; or those of the command line instead of both.
struct JudgedMatrices {
    std::vector<BenchMatrix> verified;
    std::vector<BenchMatrix> timed;
};

JudgedMatrices matrices_of(const JudgeArguments& arguments, const fs::path& folder) {
    JudgedMatrices matrices;
    Suite suite;
    for (const std::string& matrix : arguments.matrices) suite.matrices.push_back({matrix, ""});
    for (const std::string& kind : arguments.generated) suite.generated.push_back({kind, ""});
    if (suite.matrices.empty() && suite.generated.empty()) {
        for (const char* kind : timed_matrices) suite.generated.push_back({kind, ""});
        for (const NamedMatrix& one : battery()) {
            WholeFile file(folder / (one.name + ".mtx"));
            write_matrix(file, MatrixFormat::matrix_market, one.matrix);
            file.finish();
        }
        matrices.verified = matrices_in(folder);
        for (BenchMatrix& one : matrices.verified) one.name = fs::path(one.name).stem().string();
    }
    matrices.timed = workbench::matrices_of(suite, arguments.file).here;
    return matrices;
}

/// Words that start a command which reaches nothing but these folders.
std::vector<std::string> confinement(const fs::path& source, const fs::path& matrices, const fs::path& writable) {
    const auto confined = find_beside_program(confined_program);
    if (!confined) throw MachineError(fmt::format("{} is not in lib/spmv-workbench beside the program", confined_program));
    std::vector<std::string> words{confined->string(), "--write", fs::absolute(writable).string()};
    std::error_code unknown;
    for (const fs::path& folder : {source, matrices, program_folder(), confined->parent_path()}) {
        words.insert(words.end(), {"--read", fs::absolute(folder, unknown).string()});
    }
    words.emplace_back("--");
    return words;
}

/// What a confined process can still reach.
std::vector<std::string> what_is_open(std::vector<std::string> words) {
    words.pop_back();
    const Ending end = Child(words, {.output = ChildOutput::returned}).wait(60);
    if (!end.not_started.empty() || end.exit_code != 0) return {"network, files and processes are open: " + end.text()};
    std::vector<std::string> open;
    std::istringstream lines(end.output);
    for (std::string line; std::getline(lines, line);) open.push_back(line);
    return open;
}

/// A new file of lines in the folder of the judgement.
class NewLines {
public:
    explicit NewLines(const fs::path& file) : results_((fs::remove(file), file), false) {}
    ResultsFile& results() { return results_; }

private:
    ResultsFile results_;
};

/// The matrices on which the kernel was measured: others need no times beside it.
std::vector<BenchMatrix> measured_of(std::vector<BenchMatrix> matrices, const std::vector<std::string>& lines) {
    const Judgement so_far = judge(lines, {});
    std::erase_if(matrices, [&](const BenchMatrix& matrix) {
        return std::none_of(so_far.matrices.begin(), so_far.matrices.end(),
                            [&](const JudgedMatrix& one) { return one.matrix == matrix.name && one.status == "measured"; });
    });
    return matrices;
}

class Judge {
public:
    Judge(const JudgeArguments& arguments, const fs::path& folder) : arguments_(arguments), folder_(folder) {
        const fs::path recipe = folder / (fs::path(arguments.file).stem().string() + ".toml");
        write_whole_file(recipe, recipe_text(arguments.file));
        judged_ = load_recipes({recipe.string()}, arguments.changes);
        matrices_ = matrices_of(arguments, matrix_folder_.path());
        const fs::path source = fs::absolute(arguments.file).parent_path();
        confine_ = [this, source](const fs::path& writable) { return confinement(source, matrix_folder_.path(), writable); };
        open_ = what_is_open(confine_(folder));
    }

    /// Returns nothing after Ctrl-C.
    std::optional<Judgement> run() {
        const std::string name = fs::path(arguments_.file).stem().string();
        const bool on_gpu = is_cuda(arguments_.file);
        const std::vector<Backend> own{on_gpu ? Backend::cuda : Backend::cpu, on_gpu ? Backend::cusparse : Backend::kokkos};
        std::vector<BenchRecipe> recipes;
        for (const Recipe& recipe : judged_) recipes.push_back({.recipe = recipe, .file = arguments_.file, .backends = own});
        NewLines lines(folder_ / "judged.jsonl");
        BenchPlan plan = plan_of(recipes, matrices_.verified, 0);
        plan.confine = confine_;
        plan.run_options.insert(plan.run_options.end(), {"--only", name});
        if (!measure_first(plan, lines.results()) || !measure(plan, lines.results())) return std::nullopt;
        plan.matrices = matrices_.timed;
        plan.run_options[3] = fmt::format("{}", arguments_.seconds);
        if (!measure(plan, lines.results())) return std::nullopt;

        NewLines others(folder_ / "rivals.jsonl");
        const std::vector<BenchMatrix> both = measured_of(matrices_.timed, lines_of(lines.results().path()));
        if (!measure(plan_of(rivals_on(on_gpu), both, arguments_.seconds), others.results())) return std::nullopt;
        Judgement judgement = judge(lines_of(lines.results().path()), lines_of(others.results().path()));
        judgement.file = fs::path(arguments_.file).filename().string();
        judgement.precision = arguments_.precision;
        judgement.open = open_;
        if (on_gpu && judgement.right()) sanitize_into(judgement);
        const std::string source = fs::absolute(arguments_.file).parent_path().string() + "/";
        for (JudgedMatrix& one : judgement.matrices) {  // all reasons are about one file
            for (std::size_t at = 0; (at = one.reason.find(source)) != std::string::npos;) one.reason.erase(at, source.size());
        }
        return judgement;
    }

private:
    [[nodiscard]] std::vector<BenchRecipe> rivals_on(bool on_gpu) const {
        const std::vector<Backend> backends =
            on_gpu ? std::vector{Backend::cuda, Backend::cusparse} : std::vector{Backend::kokkos, Backend::eigen};
        std::vector<std::string> files = arguments_.rivals;
        if (files.empty()) files.assign(rivals.begin(), rivals.end());
        std::vector<BenchRecipe> recipes;
        for (const std::string& file : files) {
            for (Recipe& recipe : load_recipes({file}, {})) {
                recipes.push_back({.recipe = std::move(recipe), .file = file, .backends = backends});
            }
        }
        for (BenchRecipe& baseline : baseline_recipes(catalogue(), backends, on_gpu)) recipes.push_back(std::move(baseline));
        return recipes;
    }

    [[nodiscard]] BenchPlan plan_of(std::vector<BenchRecipe> recipes, const std::vector<BenchMatrix>& matrices,
                                    double seconds) const {
        return {.recipes = std::move(recipes),
                .matrices = matrices,
                .precisions = {precision_named(arguments_.precision)},
                // With a cold cache two x take turns, which leaves a kernel the fewest ways to reuse an earlier product.
                .run_options = {"--samples", fmt::format("{}", arguments_.samples), "--seconds", fmt::format("{}", seconds),
                                "--cache", "cold"},
                .limit_seconds = arguments_.limit,
                .program = fs::read_symlink("/proc/self/exe"),
                .version = program_identity(),
                .device = machine_.devices,
                .software = software_text(machine_.gpu)};
    }

    /// Measures the first matrix alone. Throws RecipeError if the file has no kernel. False after Ctrl-C.
    bool measure_first(BenchPlan plan, ResultsFile& results) const {
        if (plan.matrices.empty()) plan.matrices = matrices_.timed;
        plan.matrices.resize(1);
        if (!measure(plan, results)) return false;
        const JudgedMatrix first = judge(lines_of(results.path()), {}).matrices.front();
        if (first.status == "failed" && first.way == WrongWay::other) throw RecipeError(first.reason);
        return true;
    }

    /// The small matrices under compute-sanitizer, where it is there.
    void sanitize_into(Judgement& judgement) const {
        try {
            judgement.sanitizer = sanitize(judged_, arguments_.changes.overrides, [this](const fs::path& writable) {
                std::vector<std::string> words = confine_(writable);
                words.insert(words.end() - 1, {"--read", fs::absolute(folder_).string()});  // with the recipe
                return words;
            });
        } catch (const SanitizerErrors& found) {
            judgement.add_sanitizer_errors(found.matrix, found.is_race, found.what());
        } catch (const UserError& found) {
            if (found.exit_code == ExitCode::wrong_result) {
                judgement.add_sanitizer_errors(sanitizer_program, false, found.what());
            } else {
                judgement.sanitizer = found.what();  // the tool or a GPU is lacking, or the kernel suits none of the matrices
            }
        }
    }

    /// False after Ctrl-C.
    static bool measure(const BenchPlan& plan, ResultsFile& results) {
        const auto say = [](const std::string& line) {  // the page has the warnings
            if (!line.starts_with("    warning")) print_error(line);
        };
        return !bench(plan, results, {say, Interruption::requested}).stopped;
    }

    const JudgeArguments& arguments_;
    fs::path folder_;
    BenchMachine machine_ = bench_machine();
    WorkFolder matrix_folder_;
    std::vector<Recipe> judged_;
    JudgedMatrices matrices_;
    std::function<std::vector<std::string>(const fs::path&)> confine_;
    std::vector<std::string> open_;
};

ExitCode judge_file(const JudgeArguments& arguments) {
    const fs::path file = arguments.file;
    if (!is_cuda(file) && file.extension() != ".cpp") {
        throw RecipeError(fmt::format("{}: expected a kernel in a .cpp file, or in a .cu file for a GPU", file.string()));
    }
    if (!fs::is_regular_file(file)) throw RecipeError(fmt::format("{}: no such file", file.string()));
    const fs::path folder = arguments.out.empty() ? fs::path("out/judge") / file.stem() : fs::path(arguments.out);
    const fs::path page = folder / "judge.html";
    for (const fs::path& written : {page, folder / "judged.jsonl", folder / "rivals.jsonl"}) {
        check_results_file("--out", written.string());
    }
    check_results_file("--json", arguments.json);
    const Interruption interruption;
    Judge judge(arguments, folder);
    const std::optional<Judgement> judgement = judge.run();
    if (!judgement) {
        print_error("stopped before the judgement");
        return ExitCode::stopped;
    }
    const std::string json = to_json(*judgement);
    if (!arguments.no_page) {
        std::vector<Record> records;
        add_records({folder / "judged.jsonl", folder / "rivals.jsonl"}, records);
        write_whole_file(page, bench_page(records, fmt::format("{}: {}", judgement->file, judgement->verdict()), command_line(),
                                          &*judgement));
    }
    if (arguments.json == standard_output) {
        fmt::print("{}\n", json);
        return judgement->exit_code();
    }
    if (!arguments.json.empty()) write_whole_file(arguments.json, json + "\n");
    print_text("\n{}  written to {}\n", to_text(*judgement), folder.string());
    return judgement->exit_code();
}

}  // namespace

void add_judge_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "judge", "Judge a kernel: right or wrong, honest or not, fast beside others or not", judge_file);
    command.add_option("file", arguments.file, "C++ or CUDA file with a function over the arrays of CSR")
        ->required()
        ->type_name("FILE");
    command.add_option("--matrices", arguments.matrices, "Matrix files and folders of matrices instead of the 40 of the judge")
        ->type_name("DIR|FILE");
    command.add_option("--generate", arguments.generated, "Generated matrices instead of those: laplace2d:nx=300,ny=300")
        ->allow_extra_args(false)
        ->type_name("KIND[:NAME=VALUE,...]");
    add_overrides(command, arguments.changes);
    command.add_option("--rivals", arguments.rivals, "Recipes to time beside the kernel instead of the usual six")
        ->type_name("RECIPE");
    add_choice(command, "--precision", arguments.precision, {"f32", "f64"}, "f32 or f64");
    add_number(command, "--samples", arguments.samples, Range{1, 1000000, "COUNT"}, "Samples per kernel, as for run");
    add_number(command, "--seconds", arguments.seconds, Range{0.0, 3600.0, "SECONDS"},
               "Total time of a kernel's samples, as for run");
    add_number(command, "--limit", arguments.limit, Range{1.0, 1e7, "SECONDS"}, "Time limit per matrix");
    command
        .add_option("--out", arguments.out, "Folder for the page and the lines of all measurements (default: out/judge/NAME)")
        ->type_name("FOLDER");
    command.add_option("--json", arguments.json, "File for the judgement as a line of JSON; '-': print it instead of the text")
        ->type_name("FILE");
    command.add_flag("--no-page", arguments.no_page, "Do not write the HTML page");
}

}  // namespace workbench
