// workbench cache: simulates the cache hits of reads of x.
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "studies/bench/plots.hpp"
#include "studies/cache_model/cache_study.hpp"
#include "viz/chart_files.hpp"

namespace workbench {
namespace {

struct CacheArguments {
    std::string recipe;
    RecipeChanges changes;
    std::string device = "k20x";
    std::string precision = "f64";
    int resident_warps = 64;
    int block_warps = 8;
    std::string json;
    std::string plot;
    PaperColumn column;
    bool force = false;
};

/// The names of the swept parameters: "stage.column_segmentation.width".
std::string swept_of(const Recipe& recipe) {
    std::string names;
    for (const SweptValue& value : recipe.sweep.values) names += (names.empty() ? "" : ", ") + value.name;
    return names;
}

std::string value_of(const Recipe& recipe) {
    std::string values;
    for (const SweptValue& each : recipe.sweep.values) {
        const auto* text = std::get_if<std::string>(&each.value);
        values += (values.empty() ? "" : ", ") + (text == nullptr ? to_text(each.value) : *text);
    }
    return values;
}

/// Adds a point for each recipe; the recipes are the points of a sweep.
void count(const std::vector<Recipe>& recipes, const DeviceProperties& device, bool charted, CacheStudy& study) {
    const Progress progress;
    std::pair<CsrMatrix, MatrixReport> loaded;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        if (i == 0 || recipes[i].matrix != recipes[i - 1].matrix) {
            progress.show("reading the matrix");
            loaded = load_matrix(recipes[i].matrix);
        }
        progress.show(recipes[i].sweep.label.empty() ? "counting" : recipes[i].sweep.label);
        study.points.push_back(study_cache(recipes[i], loaded.first, study.precision, study.model, {&device, study.precision}));
        study.points.back().value = value_of(recipes[i]);
        if (charted) study.points.back().place = chart_place(recipes[i]);
        study.points.back().matrix = loaded.second.source;
    }
}

ExitCode study(const CacheArguments& arguments) {
    const KokkosRuntime kokkos;
    const DeviceProperties& device = *find_device_model(arguments.device);
    if (arguments.block_warps > arguments.resident_warps) {
        throw RecipeError(fmt::format("--block: found {}, expected at most --resident, which is {}",
                                      counted(arguments.block_warps, "warp"), arguments.resident_warps));
    }
    CacheStudy study;
    study.device = device.name;
    study.precision = precision_named(arguments.precision);
    study.model = {device.processors, arguments.resident_warps, arguments.block_warps, device_caches(arguments.device)};

    const std::vector<Recipe> recipes = load_recipes({arguments.recipe}, arguments.changes);
    study.swept = swept_of(recipes.front());
    study.recipe = recipes.front().name;
    study.source = recipes.front().source;

    std::optional<WholeFile> file;
    check_results_file("--json", arguments.json);
    if (!arguments.json.empty()) file.emplace(arguments.json);  // throws before the work
    if (!arguments.plot.empty()) {
        check_chartable(recipes, study.model);
        for (const std::string& name : chart_files(arguments.plot, arguments.column)) check_new(name, arguments.force);
    }
    count(recipes, device, !arguments.plot.empty(), study);
    if (file) {
        file->write(to_json(study));
        file->finish();
    }
    print_text("{}", study.text());
    if (file) print_text("\nwritten to {}\n", arguments.json);
    if (arguments.plot.empty()) return ExitCode::ok;
    const std::filesystem::path plot = arguments.plot;
    Plots plots;
    plots.curves.push_back({plot.filename().string(), chart_of(study)});
    write_plots(plots, plot.parent_path(), arguments.column);
    print_text("\ndrawn to {}\n", fmt::join(files_of(plots, arguments.column), ", "));
    return ExitCode::ok;
}

}  // namespace

void add_cache_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "cache", "Simulate the cache hit rates of reads of x on a device model", study);
    command.add_option("recipe", arguments.recipe, "Recipe file")->required()->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    add_choice(command, "--device", arguments.device, device_model_names(), "Device model whose caches are simulated");
    add_choice(command, "--precision", arguments.precision, {"f64", "f32"}, "Precision of x");
    add_number(command, "--resident", arguments.resident_warps, Range{1, 1024, "COUNT"}, "Resident warps per multiprocessor");
    add_number(command, "--block", arguments.block_warps, Range{1, 32, "COUNT"}, "Warps per thread block");
    command.add_option("--json", arguments.json, "Also write the counts to this file")->type_name("FILE");
    CLI::Option* plot =
        command.add_option("--plot", arguments.plot, "Also plot the hit rates over the last swept number: NAME.png, NAME.svg")
            ->type_name("NAME");
    add_paper_options(command, arguments.column, plots_in_column)->needs(plot);
    add_force_option(command, arguments.force);
}

}  // namespace workbench
