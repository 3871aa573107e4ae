// workbench check
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/command.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/terminal.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

struct CheckArguments {
    std::vector<std::string> recipes;
    RecipeChanges changes;
    bool resolved = false;
};

/// "stage.metis_partition.parts = 132, 264": one line for each swept parameter.
std::string swept_values(const std::vector<Recipe>& points) {
    std::string text;
    for (std::size_t k = 0; k < points.front().sweep.values.size(); ++k) {
        std::vector<std::string> values;
        for (const Recipe& point : points) {
            const std::string value = to_text(point.sweep.values[k].value);
            if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
        }
        text += fmt::format("  {} = {}\n", points.front().sweep.values[k].name, fmt::join(values, ", "));
    }
    return text;
}

std::string chain_of(const Recipe& recipe) {
    std::string chain;
    for (const RecipeStage& stage : recipe.stages) chain += stage.id + " -> ";
    return chain + name_of_layouts(recipe);
}

void print_resolved(const std::vector<Recipe>& points) {
    for (const Recipe& point : points) {
        if (points.size() > 1) fmt::print("{}# {}\n", &point == &points.front() ? "" : "\n", point.sweep.label);
        fmt::print("{}", resolved_recipe(point));
    }
}

void print_summary(const std::string& file, const std::vector<Recipe>& points) {
    std::vector<std::string> chains;
    for (const Recipe& point : points) {
        const std::string chain = chain_of(point);
        if (std::find(chains.begin(), chains.end(), chain) == chains.end()) chains.push_back(chain);
    }
    for (const std::string& chain : chains) fmt::print("{}: ok: {}\n", file, chain);
    std::vector<std::string> code;
    for (const Recipe& point : points) {
        for (const RecipeCode& each : point.code) {
            const std::string line = fmt::format("  brings code: {} ({})\n", each.what,
                                                 each.place.option >= 0 ? "the command line" : point.line_of(each.place));
            if (std::find(code.begin(), code.end(), line) == code.end()) code.push_back(line);
        }
    }
    fmt::print("{}", fmt::join(code, ""));
    if (points.front().sweep.values.empty()) return;
    fmt::print("  sweep of {} recipes:\n{}", points.size(), swept_values(points));
}

/// Checks every recipe, so that the errors of all are listed.
ExitCode check(const CheckArguments& arguments) {
    const Unmatched unmatched = arguments.recipes.size() == 1 ? Unmatched::refused : Unmatched::noted;
    ExitCode exit_code = ExitCode::ok;
    const auto refuse = [&exit_code](const RecipeError& error) {
        print_error(error.what());
        exit_code = error.exit_code;
    };
    std::vector<LoadedRecipe> loaded;
    for (const std::string& file : arguments.recipes) {
        try {
            loaded.push_back(load_points(find_recipe(file), catalogue(), arguments.changes, unmatched));
        } catch (const RecipeError& error) {
            refuse(error);
            continue;
        }
        const std::vector<Recipe>& points = loaded.back().points;
        arguments.resolved ? print_resolved(points) : print_summary(file, points);
        if (arguments.resolved) continue;
        for (const std::string& note : points.front().notes) fmt::print("  note: {}\n", note);
    }
    if (exit_code != ExitCode::ok) return exit_code;
    try {
        check_matched(loaded);
    } catch (const RecipeError& error) {
        refuse(error);
    }
    return exit_code;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "check", "Check recipes without reading a matrix, and list all errors", check);
    command.add_option("recipe", arguments.recipes, "Recipe files")->required()->type_name("RECIPE");
    add_overrides(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    command.add_flag("--resolved", arguments.resolved, "Print the recipe with every default filled in");
}

}  // namespace workbench
