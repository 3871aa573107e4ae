// workbench check
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

struct CheckArguments {
    std::vector<std::string> recipes;
    std::vector<std::string> overrides;
    bool resolved = false;
};

/// Checks every recipe, so that the errors of all of them are seen.
int check(const CheckArguments& arguments) {
    int exit_code = exit_ok;
    for (const std::string& file : arguments.recipes) {
        try {
            const Recipe recipe = load_recipe(find_recipe(file), catalogue(), {.overrides = arguments.overrides});
            if (arguments.resolved) {
                fmt::print("{}", resolved_recipe(recipe));
                continue;
            }
            std::string chain;
            for (const RecipeStage& stage : recipe.stages) chain += stage.id + " -> ";
            fmt::print("{}: ok: {}{}\n", file, chain, name_of_layouts(recipe));
        } catch (const RecipeError& error) {
            fmt::print(stderr, "{}\n", error.what());
            exit_code = error.exit_code;
        }
    }
    return exit_code;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<CheckArguments>();
    CLI::App* command = app.add_subcommand("check", "Check recipes without reading a matrix; all errors are listed");
    command->add_option("recipe", arguments->recipes, "Recipe files")->required()->type_name("RECIPE");
    command->add_option("--set", arguments->overrides, "Override a parameter: stage.ID.NAME=VALUE, layout.NAME=VALUE, ...")
        ->type_name("WHAT=VALUE")
        ->allow_extra_args(false);
    command->add_flag("--resolved", arguments->resolved, "Print the recipe with every default filled in");
    command->callback([arguments, &action] { action = [arguments] { return check(*arguments); }; });
}

}  // namespace workbench
