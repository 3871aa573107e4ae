#include "frontends/cli/recipe_changes.hpp"

#include <iterator>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frontends/cli/options.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {

void add_recipe_changes(CLI::App& command, RecipeChanges& changes) {
    CLI::Option* matrix = command
                              .add_option("--matrix", changes.matrix,
                                          fmt::format("Matrix file to use instead of the recipe's: {}", readable_files))
                              ->type_name("FILE");
    add_read_options(command, changes.member);
    command.add_option("--generate", changes.generate, "Generated matrix to use instead: elasticity3d:nx=40,ny=40,nz=40")
        ->type_name("KIND[:NAME=VALUE,...]")
        ->excludes(matrix);
    add_overrides(command, changes);
}

void add_overrides(CLI::App& command, RecipeChanges& changes) {
    command.add_option("--set", changes.overrides, "Override a parameter: stage.ID.NAME=VALUE, layout.NAME=VALUE, ...")
        ->type_name("WHAT=VALUE")
        ->allow_extra_args(false);
    command.add_flag_callback(
        "--no-sources", [&changes] { changes.no_code_because = "of --no-sources"; },
        "Refuse recipes that bring code along: programs and sources of stages, sources of kernels");
}

void add_sweeps(CLI::App& command, RecipeChanges& changes) {
    command
        .add_option("--sweep", changes.sweeps,
                    "Try several values: layout.slice_height=32,64 or 32..512*2; if repeated, all combinations")
        ->type_name("WHAT=VALUE,...")
        ->allow_extra_args(false);
}

std::vector<std::vector<Recipe>> load_each(const std::vector<std::string>& files, const RecipeChanges& changes) {
    const Unmatched unmatched = files.size() == 1 ? Unmatched::refused : Unmatched::noted;
    std::vector<LoadedRecipe> loaded;
    for (const std::string& file : files) loaded.push_back(load_points(find_recipe(file), catalogue(), changes, unmatched));
    check_matched(loaded);
    std::vector<std::vector<Recipe>> points;
    for (LoadedRecipe& each : loaded) points.push_back(std::move(each.points));
    return points;
}

std::vector<Recipe> load_recipes(const std::vector<std::string>& files, const RecipeChanges& changes) {
    std::vector<Recipe> recipes;
    for (std::vector<Recipe>& points : load_each(files, changes)) {
        std::move(points.begin(), points.end(), std::back_inserter(recipes));
    }
    return recipes;
}

std::filesystem::path installed(const std::filesystem::path& given) {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    const std::filesystem::path shared = folder.parent_path() / "share" / "spmv-workbench";
    const std::filesystem::path sources = folder.parent_path().parent_path();  // of a build tree, build/NAME
    const bool is_built_here = !exists(shared, ignored) && exists(sources / "CMakePresets.json", ignored);
    return (is_built_here ? sources : shared) / given;  // unchanged if it is absolute
}

std::filesystem::path find_recipe(const std::filesystem::path& given) {
    std::error_code ignored;
    if (std::filesystem::exists(given, ignored)) return given;
    return std::filesystem::is_regular_file(installed(given), ignored) ? installed(given) : given;
}

}  // namespace workbench
