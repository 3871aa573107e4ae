// workbench compare: runs two recipes on one matrix and shows them side by side.
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/matrix_runner.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/report/comparison.hpp"
#include "pipeline/report/pictures.hpp"
#include "studies/bench/tell_apart.hpp"
#include "viz/image.hpp"

namespace workbench {
namespace {

struct CompareArguments : MeasuringArguments {
    bool as_json = false;
    std::string page;  // empty: compare.html in the folder of --out, or in out
    bool no_page = false;
    bool force = false;
};

std::string page_file(const CompareArguments& arguments) {
    if (!arguments.page.empty()) return arguments.page;
    return (std::filesystem::path(arguments.out.empty() ? "out" : arguments.out) / "compare.html").string();
}

std::vector<Recipe> two_recipes(const CompareArguments& arguments) {
    std::vector<Recipe> recipes = load_recipes(arguments.recipes, arguments.changes);
    if (recipes.size() != 2) {
        throw RecipeError(fmt::format("found {}, expected two: two files, or one with a --sweep of two values",
                                      counted(recipes.size(), "recipe")));
    }
    if (recipes.front().matrix != recipes.back().matrix) {
        throw RecipeError("the recipes name different matrices; choose one with --matrix or --generate");
    }
    set_preparation(arguments.prepare, recipes);
    if (recipes.front().sweep.label.empty() && recipes.front().file != recipes.back().file) tell_names_apart(recipes);
    return recipes;
}

/// The rasters of a recipe's stages, and their bins for the HTML page.
using Pages = std::vector<std::shared_ptr<const StagePage>>;

/// The file name of a recipe's picture: its own name, followed by the swept values if any.
std::string picture_name(const Recipe& recipe) {
    return recipe.file.stem().string() + (recipe.sweep.folder.empty() ? "" : "_" + recipe.sweep.folder) + ".png";
}

/// Writes a contact sheet of each recipe's stages, all on one density scale. Returns the files.
std::vector<std::string> write_sheets(const std::filesystem::path& folder, const std::vector<Recipe>& recipes,
                                      const std::vector<RunReport>& reports, const std::vector<Pages>& pages) {
    std::vector<PatternRaster> rasters;
    for (const Pages& of_recipe : pages) {
        for (const auto& page : of_recipe) rasters.push_back(page->raster);
    }
    const DensityScale scale = common_scale(rasters);
    std::vector<std::string> files;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        std::vector<PatternRaster> own;
        for (const auto& page : pages[i]) {
            own.push_back(page->raster);
            own.back().slice_height = slice_height_of(recipes[i]);
        }
        const std::vector<StageCaption> captions = captions_of(reports[i], own);
        std::vector<StageFrame> frames;
        for (std::size_t k = 0; k < std::min(captions.size(), own.size()); ++k) {
            frames.push_back({own[k], short_caption(captions[k], captions)});
        }
        if (frames.empty()) continue;
        files.push_back((folder / picture_name(recipes[i])).string());
        write_png(files.back(), image_of(ContactSheet{frames, scale, head_of(reports[i])}));
    }
    return files;
}

/// Shows the steps of a run, until the user stops it.
ReportStep shown_on(const Progress& progress) {
    return [&progress](const std::string& step) {
        stop_if_requested();
        progress.show(step);
    };
}

/// Calls `step`, and adds its failure to the reports. Throws Stopped, because a comparison needs both recipes.
template <typename Step>
void attempt(std::initializer_list<RunReport*> reports, const Step& step) {
    const StdoutToStderr redirection;
    try {
        step();
    } catch (const Stopped&) {
        throw Stopped("stopped: a comparison needs both recipes, so nothing was written");
    } catch (...) {
        for (RunReport* report : reports) report->failures.push_back(current_failure());
    }
}

/// Runs the stages of a recipe and verifies its kernels. `pages`: null if nothing is drawn.
void make_ready(MatrixRunner& runner, const Recipe& recipe, bool with_pattern, Pages* pages, RunReport& report) {
    const Progress progress;
    RunObserver observer;
    observer.progress = shown_on(progress);
    if (pages != nullptr) {
        observer.maps_storage = with_pattern;
        observer.stage_done = [pages, with_pattern, &recipe](const StagedMatrix& staged, StageOutcome& outcome) {
            const bool has_graph = with_pattern && pages->empty();  // the input
            std::vector<Point> places = has_graph ? page_places(recipe.matrix, staged.matrix, false) : std::vector<Point>{};
            outcome.attached =
                page_of(staged, with_pattern, std::move(places));  // kept for the other recipe, which may share the stage
            pages->push_back(page_of(outcome));
        };
        observer.stage_shared = [pages](const StageOutcome& outcome) {
            if (outcome.attached != nullptr) pages->push_back(page_of(outcome));
        };
    }
    attempt({&report}, [&] { runner(recipe).make_ready(recipe, observer, report); });
}

void write_comparison_page(const CompareArguments& arguments, const std::vector<Recipe>& recipes,
                           const std::vector<RunReport>& reports, const std::vector<Pages>& pages) {
    std::vector<PageRun> runs;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        std::vector<std::shared_ptr<const PagePattern>> patterns;
        for (const auto& page : pages[i]) patterns.push_back(page->pattern);
        runs.push_back({reports[i], std::move(patterns), slice_height_of(recipes[i])});
    }
    const std::string title = fmt::format("{} and {}", reports[0].title(), reports[1].title());
    write_whole_file(page_file(arguments), page_html(runs, {title, "compare", command_line()}));
}

ExitCode compare(const CompareArguments& arguments) {
    const KokkosRuntime kokkos;
    const std::vector<Recipe> recipes = two_recipes(arguments);
    if (!arguments.out.empty()) {
        if (picture_name(recipes.front()) == picture_name(recipes.back())) {
            throw RecipeError(fmt::format("{} and {} would be drawn to the same file, '{}'; rename one, or omit --out",
                                          recipes.front().file.string(), recipes.back().file.string(),
                                          picture_name(recipes.front())));
        }
        for (const Recipe& recipe : recipes) {
            const std::filesystem::path picture = std::filesystem::path(arguments.out) / picture_name(recipe);
            check_new(picture, arguments.force);
            check_writable(picture);
        }
    }
    MatrixRunner runner(arguments, recipes);
    if (!arguments.no_page) check_results_file("--page", page_file(arguments));
    static_cast<void>(runner(recipes.front()));  // throws if the matrix cannot be read

    const Interruption interruption;
    std::vector<RunReport> reports(recipes.size());
    std::vector<Pages> pages(recipes.size());
    const bool draws = !arguments.out.empty() || !arguments.no_page;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        make_ready(runner, recipes[i], !arguments.no_page, draws ? &pages[i] : nullptr, reports[i]);
    }
    attempt({&reports[0], &reports[1]}, [&] {
        const Progress progress;
        runner(recipes.front()).time_together(shown_on(progress));
    });
    for (RunReport& report : reports) runner.add_facts(report);
    fmt::print("{}",
               arguments.as_json ? compare_json(reports[0], reports[1]) : printable(compare_text(reports[0], reports[1])));

    std::vector<std::string> files;
    if (!arguments.out.empty()) files = write_sheets(arguments.out, recipes, reports, pages);
    if (!arguments.no_page) {
        write_comparison_page(arguments, recipes, reports, pages);
        files.push_back(page_file(arguments));
    }
    if (!arguments.as_json && !files.empty()) print_text("\nwritten to {}\n", fmt::join(files, ", "));

    ExitCode exit_code = ExitCode::ok;
    for (const RunReport& report : reports) {
        for (const Failure& failure : report.failures) {
            print_error(fmt::format("error: {}: {}", report.title(), failure.text));
            if (exit_code == ExitCode::ok) exit_code = failure.exit_code;
        }
        if (!report.all_verified()) exit_code = ExitCode::wrong_result;
    }
    return exit_code;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "compare", "Run two recipes on a matrix and show their stages and kernels side by side", compare);
    command.add_option("recipe", arguments.recipes, "Two recipe files, or one with a --sweep of two values")
        ->required()
        ->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    add_measuring_options(command, arguments);
    add_keep_option(command, arguments.keep);
    add_prepare_option(command, arguments.prepare);
    command
        .add_option("--page", arguments.page,
                    "File for an HTML page with both recipes (default: compare.html in the folder of --out, or in out)")
        ->type_name("FILE");
    command.add_flag("--no-page", arguments.no_page, "Do not write the HTML page");
    command.add_flag("--json", arguments.as_json, "Print one JSON object");
    command
        .add_option("--out", arguments.out,
                    "Folder for the page, and for pictures of the stages of both recipes on one density scale")
        ->type_name("FOLDER");
    add_force_option(command, arguments.force);
}

}  // namespace workbench
