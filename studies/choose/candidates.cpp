// The candidates of a choice: recipes in several orders.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "pipeline/recipe/text.hpp"
#include "studies/bench/tell_apart.hpp"
#include "studies/choose/choose.hpp"

namespace workbench {
namespace {

constexpr const char* cuthill_mckee = "cuthill_mckee";
constexpr std::string_view after_rcm = " after RCM";

/// Equal for equivalent recipes; plain and reverse Cuthill-McKee count as one.
std::string identity_of(Recipe recipe) {
    recipe.name = recipe.source = "";
    recipe.matrix = {};
    for (RecipeStage& stage : recipe.stages) {
        if (stage.entry->name == cuthill_mckee) stage.parameters = {};
    }
    return resolved_recipe(recipe);
}

bool reorders(const RecipeStage& stage) {
    static const std::set<std::string> names{cuthill_mckee,
                                             "metis_partition",
                                             "multilevel_partition",
                                             "rcm_blocks",
                                             "bfs_blocks",
                                             "random_order",
                                             "colouring",
                                             "column_sort",
                                             "approximate_minimum_degree",
                                             "degree_sort",
                                             "gray",
                                             "king",
                                             "nested_dissection",
                                             "rabbit_order",
                                             "sloan"};
    return names.contains(stage.entry->name);
}

/// The recipe in another order: without its initial Cuthill-McKee stage, or with one.
std::optional<Recipe> in_other_order(const Recipe& recipe, const RecipeStage& rcm, Orders orders) {
    Recipe other = recipe;
    if (!recipe.stages.empty() && recipe.stages.front().entry->name == cuthill_mckee) {
        other.stages.erase(other.stages.begin());
        const bool named_so = other.name.ends_with(after_rcm);
        other.name = named_so ? other.name.substr(0, other.name.size() - after_rcm.size())
                              : extended_name(other.name, ", natural order");
        return other;
    }
    if (orders != Orders::others_of_square) return std::nullopt;
    if (std::any_of(recipe.stages.begin(), recipe.stages.end(), reorders)) return std::nullopt;
    other.stages.insert(other.stages.begin(), rcm);
    other.name = extended_name(other.name, std::string(after_rcm));
    return other;
}

}  // namespace

std::vector<Recipe> candidates_of(const Catalogue& catalogue, const std::vector<Recipe>& recipes, const MatrixChoice& matrix,
                                  Orders orders) {
    const std::string layout = fmt::format("[layout]\nuse = \"{}\"\n", catalogue.baseline_layout);
    const std::string stage = fmt::format("[[stage]]\nuse = \"{}\"\n", cuthill_mckee);
    std::vector<Recipe> candidates;
    std::set<std::string> known;
    const auto add = [&](Recipe recipe) {
        recipe.matrix = matrix;
        if (!recipe.sweep.label.empty()) recipe.name = extended_name(recipe.name, ": " + recipe.sweep.label);
        recipe.sweep = {};
        if (known.insert(identity_of(recipe)).second) candidates.push_back(std::move(recipe));
    };
    const auto of_program = [&catalogue](const std::string& text) {
        Recipe recipe = parse_recipe(text, "baseline", catalogue);
        recipe.file.clear();
        return recipe;
    };
    add(of_program("[recipe]\nname = \"CSR\"\n" + layout));
    const Recipe rcm = of_program("[recipe]\nname = \"CSR after RCM\"\n" + stage + layout);
    add(rcm);
    for (const Recipe& recipe : recipes) add(recipe);
    for (const Recipe& recipe : recipes) {
        if (orders == Orders::own) break;
        if (std::optional<Recipe> other = in_other_order(recipe, rcm.stages.front(), orders)) add(std::move(*other));
    }
    tell_names_apart(candidates, 2);
    return candidates;
}

}  // namespace workbench
