// workbench compare: two recipes on one matrix, side by side.
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/common/device/host_device.hpp"
#include "pipeline/cli/aside.hpp"
#include "pipeline/cli/command_line.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/machine.hpp"
#include "pipeline/cli/matrix_runner.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/run/comparison.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/run/pictures.hpp"

namespace workbench {
namespace {

struct CompareArguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    MeasuringArguments measuring;
    bool json = false;
    std::string page = "out/compare.html";
    bool no_page = false;
};

std::vector<Recipe> two_recipes(const CompareArguments& arguments) {
    std::vector<Recipe> recipes = load_recipes(arguments.recipes, arguments.changes);
    if (recipes.size() != 2) {
        throw RecipeError(
            fmt::format("found {} recipe{}, expected two to compare: two files, or one with a --sweep of two values",
                        recipes.size(), recipes.size() == 1 ? "" : "s"));
    }
    if (recipes.front().matrix != recipes.back().matrix) {
        throw RecipeError("the recipes do not name the same matrix: give it with --matrix or --generate");
    }
    return recipes;
}

using Patterns = std::vector<std::shared_ptr<const PagePattern>>;

/// `patterns`: null where no page is wanted.
RunReport run_one(MatrixRunner& runner, const Recipe& recipe, Patterns* patterns) {
    const PrintsAside prints_aside;
    const Progress progress;
    RunObserver observer;
    observer.progress = [&progress](const std::string& step) { progress.show(step); };
    if (patterns != nullptr) {
        observer.maps_storage = true;
        observer.stage_done = [patterns](const StagedMatrix& staged, StageOutcome& outcome) {
            outcome.page = page_of(staged, true);  // for the other recipe, if it begins alike
            patterns->push_back(outcome.page->pattern);
        };
        observer.stage_shared = [patterns](const StageOutcome& outcome) {
            patterns->push_back(outcome.page == nullptr ? nullptr : outcome.page->pattern);
        };
    }
    RunReport report;
    try {
        runner(recipe).run(recipe, observer, report);
    } catch (...) {
        report.failures.push_back(current_failure());
    }
    report.matrix = runner.report();
    return report;
}

void write_page(const CompareArguments& arguments, const std::vector<RunReport>& reports,
                const std::array<Patterns, 2>& patterns) {
    const std::vector<PageRun> runs{{reports[0], patterns[0]}, {reports[1], patterns[1]}};
    const std::string title = fmt::format("{} and {}", reports[0].title(), reports[1].title());
    write_whole_file(arguments.page, page_html(runs, {title, "compare", command_line()}));
    if (!arguments.json) fmt::print("\nwritten to {}\n", arguments.page);
}

int compare(const CompareArguments& arguments) {
    const KokkosRuntime kokkos;
    const std::vector<Recipe> recipes = two_recipes(arguments);
    const RunOptions options = options_of(arguments.measuring);
    std::string note;
    const std::unique_ptr<Device> gpu = gpu_for(arguments.measuring, options, note);
    const std::unique_ptr<Device> host = make_host_device();
    MatrixRunner runner(recipes, {*host, gpu.get()}, options);
    if (!arguments.no_page) check_writable(arguments.page);
    static_cast<void>(runner(recipes.front()));  // without the matrix there is nothing to compare

    std::vector<RunReport> reports;
    std::array<Patterns, 2> patterns;
    for (const Recipe& recipe : recipes) {
        reports.push_back(run_one(runner, recipe, arguments.no_page ? nullptr : &patterns.at(reports.size())));
        reports.back().machine = describe_machine(host->properties());
        reports.back().versions = versions();
    }
    if (!note.empty()) reports.front().notes.push_back(note);
    fmt::print("{}", arguments.json ? compare_json(reports[0], reports[1]) : compare_text(reports[0], reports[1]));

    if (!arguments.no_page) write_page(arguments, reports, patterns);

    int exit_code = exit_ok;
    for (const RunReport& report : reports) {
        for (const Failure& failure : report.failures) {
            (void)std::fflush(stdout);  // both may go to one file
            fmt::print(stderr, "error: {}: {}\n", report.title(), failure.text);
            if (exit_code == exit_ok) exit_code = failure.exit_code;
        }
        if (!report.all_verified()) exit_code = exit_verification_failed;
    }
    return exit_code;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command =
        app.add_subcommand("compare", "Run two recipes on a matrix and show them side by side, stages and kernels");
    command->add_option("recipe", arguments->recipes, "Two recipe files, or one with a --sweep of two values")
        ->required()
        ->type_name("RECIPE");
    add_recipe_changes(*command, arguments->changes);
    add_sweeps(*command, arguments->changes);
    add_measuring_options(*command, arguments->measuring);
    command->add_option("--page", arguments->page, "Write both as a page for a browser, pattern by pattern, to this file")
        ->type_name("FILE")
        ->capture_default_str();
    command->add_flag("--no-page", arguments->no_page, "Write no page");
    command->add_flag("--json", arguments->json, "As one JSON object");
    command->callback([arguments, &action] { action = [arguments] { return compare(*arguments); }; });
}

}  // namespace workbench
