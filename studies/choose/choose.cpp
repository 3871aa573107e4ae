#include "studies/choose/choose.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "pipeline/recipe/text.hpp"
#include "studies/bench/tell_apart.hpp"
#include "studies/choose/search.hpp"

namespace workbench {
namespace {

/// Equal for equivalent recipes; variants of the usual order (plain and reverse Cuthill-McKee) count as one.
std::string identity_of(Recipe recipe, const std::string& usual_order) {
    recipe.name = recipe.source = "";
    recipe.matrix = {};
    for (RecipeStage& stage : recipe.stages) {
        if (stage.entry->name == usual_order) stage.parameters = {};
    }
    return resolved_recipe(recipe);
}

/// The recipe in another order: without the usual order (RCM) as its first stage, or with it. after_rcm: what its name then
/// ends with.
std::optional<Recipe> in_other_order(const Recipe& recipe, const RecipeStage& rcm, const std::string& after_rcm,
                                     Orders orders) {
    Recipe other = recipe;
    if (!recipe.stages.empty() && recipe.stages.front().entry == rcm.entry) {
        other.stages.erase(other.stages.begin());
        const bool named_so = other.name.ends_with(after_rcm);
        other.name = named_so ? other.name.substr(0, other.name.size() - after_rcm.size())
                              : extended_name(other.name, ", natural order");
        return other;
    }
    if (orders != Orders::others_of_square) return std::nullopt;
    const auto orders_all = [](const RecipeStage& stage) { return stage.entry->orders_all; };
    if (std::any_of(recipe.stages.begin(), recipe.stages.end(), orders_all)) return std::nullopt;
    other.stages.insert(other.stages.begin(), rcm);
    other.name = extended_name(other.name, after_rcm);
    return other;
}

}  // namespace

double Timed::permutation_seconds() const {
    const auto vectors = std::find_if(record.preparation.begin(), record.preparation.end(),
                                      [](const auto& part) { return part.first == "vectors"; });
    return vectors == record.preparation.end() ? 0 : vectors->second;
}

std::optional<double> Timed::saved_seconds(double products, double solves) const {
    if (!faster() || !record.break_even) return std::nullopt;
    return price_seconds * (products / *record.break_even - 1) - (solves - 1) * permutation_seconds();
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Search(matrix, catalogue, devices, recipes, options).run();
}

std::vector<Recipe> candidates_of(const Catalogue& catalogue, const std::vector<Recipe>& recipes, const MatrixChoice& matrix,
                                  Orders orders) {
    const std::string layout = fmt::format("[layout]\nuse = \"{}\"\n", catalogue.baseline_layout);
    const std::string stage = fmt::format("[[stage]]\nuse = \"{}\"\n", catalogue.baseline_order);
    std::vector<Recipe> candidates;
    std::set<std::string> known;
    const auto add = [&](Recipe recipe) {
        recipe.matrix = matrix;
        if (!recipe.sweep.label.empty()) recipe.name = extended_name(recipe.name, ": " + recipe.sweep.label);
        recipe.sweep = {};
        if (known.insert(identity_of(recipe, catalogue.baseline_order)).second) candidates.push_back(std::move(recipe));
    };
    const auto of_program = [&catalogue](const std::string& text) {
        Recipe recipe = parse_recipe(text, "baseline", catalogue);
        recipe.file.clear();
        return recipe;
    };
    const std::string after_rcm = " after " + catalogue.order_title;
    const auto head = [&](const std::string& order) {
        return fmt::format("[recipe]\nname = \"{}{}\"\n", catalogue.layout_title, order);
    };
    add(of_program(head("") + layout));
    const Recipe rcm = of_program(head(after_rcm) + stage + layout);
    add(rcm);
    for (const Recipe& recipe : recipes) add(recipe);
    for (const Recipe& recipe : recipes) {
        if (orders == Orders::own) break;
        if (std::optional<Recipe> other = in_other_order(recipe, rcm.stages.front(), after_rcm, orders)) add(std::move(*other));
    }
    tell_names_apart(candidates, 2);
    return candidates;
}

}  // namespace workbench
