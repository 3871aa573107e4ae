#include <algorithm>
#include <variant>

#include "frontends/library/caller_errors.hpp"
#include "frontends/library/checked_recipe.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/document.hpp"

namespace spmv_workbench {
namespace {

bool names_matrix(const workbench::Recipe& recipe) { return !std::holds_alternative<std::monostate>(recipe.matrix.from); }

/// Formats beside a recipe are looked up by the functions that the program exports, which the library does not.
const workbench::Catalogue& library_catalogue() {
    static const workbench::Catalogue all = [] {
        workbench::Catalogue copy = workbench::catalogue();
        copy.format_from_file = nullptr;
        return copy;
    }();
    return all;
}

/// Drops the recipe's own matrix and its node_size, as the caller supplies the matrix.
workbench::Recipe without_matrix(std::string_view text, const std::vector<std::string>& changes, const std::string& file) {
    const workbench::Catalogue& catalogue = library_catalogue();
    workbench::RecipeChanges all{.overrides = changes};
    const workbench::LoadedRecipe loaded = workbench::parse_points(text, file, catalogue, all);
    if (std::any_of(loaded.points.begin(), loaded.points.end(), names_matrix)) all.matrix = "the matrix at hand";
    workbench::Recipe recipe = workbench::parse_recipe(text, file, catalogue, all);
    recipe.matrix = {};
    return recipe;
}

}  // namespace

Recipe Recipe::from_file(const std::string& file, const std::vector<std::string>& changes) {
    const std::string text = workbench::for_caller([&] { return workbench::read_recipe_file(file); });
    return from_text(text, changes, file);
}

Recipe Recipe::from_text(std::string_view text, const std::vector<std::string>& changes, const std::string& file) {
    return workbench::for_caller(
        [&] { return Recipe(std::make_shared<const Checked>(Checked{without_matrix(text, changes, file)})); });
}

std::string Recipe::resolved() const {
    return workbench::for_caller([&] { return workbench::resolved_recipe(checked_->recipe); });
}

}  // namespace spmv_workbench
