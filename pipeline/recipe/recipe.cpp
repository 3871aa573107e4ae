#include "pipeline/recipe/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/contract/rounding.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "pipeline/recipe/checked_text.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/sweep.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_problems_of_points = 2000;  // in all points of a sweep; later points are not checked

/// Checks each point of the sweeps.
std::vector<Recipe> check_points(const RecipeDocument& document, const CheckedWith& with, Diagnostics& diagnostics) {
    const Sweeps sweeps(document, diagnostics);
    const std::vector<RecipeProblem> before = diagnostics.take();
    std::vector<Recipe> points;
    std::vector<std::vector<RecipeProblem>> problems;
    std::size_t problem_count = 0;
    for (std::size_t i = 0; i < sweeps.count() && problem_count <= most_problems_of_points; ++i) {
        RecipeDocument point = sweeps.document(i);
        fill_references(point, diagnostics);
        if (std::optional<Recipe> recipe = check_document(point, with, diagnostics)) {
            recipe->sweep = sweeps.point(i);
            refuse_code(recipe->code, with, diagnostics);
            points.push_back(std::move(*recipe));
        }
        problems.push_back(diagnostics.take());
        problem_count += problems.back().size();
    }
    diagnostics.add_all(before);
    sweeps.add_problems(problems, diagnostics);
    return points;
}

/// The changes among the problems that found nothing to change, each once.
std::vector<UnmatchedChange> unmatched_of(const std::vector<RecipeProblem>& problems, const RecipeDocument& document,
                                          const RecipeChanges& changes, const Diagnostics& diagnostics) {
    std::vector<UnmatchedChange> unmatched;
    for (const RecipeProblem& problem : problems) {
        const std::optional<std::size_t> number = problem.unmatched ? diagnostics.change_of(problem.place) : std::nullopt;
        if (!number || std::ranges::count(unmatched, *number, &UnmatchedChange::number) > 0) continue;
        const std::size_t overrides = changes.overrides.size();
        const bool is_override = *number < overrides;
        const std::string& text = is_override ? changes.overrides[*number] : changes.sweeps[*number - overrides];
        unmatched.push_back({.number = *number,
                             .option = printable((is_override ? "--set " : "--sweep ") + text, 120),
                             .reason = problem.message,
                             .for_another_recipe = !names_recipe(document, recipe_of_change(text))});
    }
    return unmatched;
}

/// Like parse_points, for file 0 of the diagnostics, where the errors stay if it throws.
LoadedRecipe parse_file(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes,
                        Unmatched unmatched, Diagnostics& diagnostics) {
    const RecipeDocument document = read_with_bases(file, changes.bases_within, diagnostics);
    const std::vector<RecipeProblem> of_document = diagnostics.take();

    LoadedRecipe loaded;
    for (;;) {
        RecipeDocument changed = document;
        apply_changes(changed, changes, loaded.unmatched, diagnostics);
        loaded.points = check_points(changed, {catalogue, changes.no_code_because, changes.unread_formats}, diagnostics);
        std::vector<RecipeProblem> problems = diagnostics.take();
        const auto found = unmatched == Unmatched::noted ? unmatched_of(problems, document, changes, diagnostics)
                                                         : std::vector<UnmatchedChange>();
        if (found.empty()) {
            diagnostics.add_all(of_document);
            diagnostics.add_all(problems);
            break;
        }
        loaded.unmatched.insert(loaded.unmatched.end(), found.begin(), found.end());  // retry without them
    }
    diagnostics.throw_if_any();
    std::ranges::sort(loaded.unmatched, {}, &UnmatchedChange::number);
    for (Recipe& point : loaded.points) {
        for (const UnmatchedChange& change : loaded.unmatched) {
            if (change.for_another_recipe) continue;
            point.notes.push_back(fmt::format("{} changes nothing here: {}", change.option, change.reason));
        }
    }
    return loaded;
}

}  // namespace

std::string Recipe::line_of(RecipePlace place) const {
    const std::filesystem::path& in = place.file == 0 ? file : bases[static_cast<std::size_t>(place.file) - 1];
    return fmt::format("{}:{}", in.string(), place.line);
}

LoadedRecipe parse_points(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                          const RecipeChanges& changes, Unmatched unmatched) {
    Diagnostics diagnostics(printable(file.string(), 1000), std::string(text));
    return parse_file(file, catalogue, changes, unmatched, diagnostics);
}

CheckedText check_text(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                       const RecipeChanges& changes) {
    CheckedText checked;
    Diagnostics diagnostics(printable(file.string(), 1000), std::string(text));
    try {
        checked.points = parse_file(file, catalogue, changes, Unmatched::refused, diagnostics).points;
    } catch (const RecipeError& error) {
        checked.message = error.what();
        checked.problems = diagnostics.take();
        if (checked.problems.empty()) checked.problems.push_back({{}, checked.message});
    }
    return checked;
}

LoadedRecipe load_points(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes,
                         Unmatched unmatched) {
    return parse_points(read_recipe_file(file), file, catalogue, changes, unmatched);
}

Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                    const RecipeChanges& changes) {
    LoadedRecipe loaded = parse_points(text, file, catalogue, changes);
    if (loaded.points.size() == 1) return std::move(loaded.points.front());
    std::string names;
    for (const SweptValue& value : loaded.points.front().sweep.values) {
        names += fmt::format("{}--set {}=VALUE", names.empty() ? "" : " ", value.name);
    }
    throw RecipeError(fmt::format("error: {}: found a sweep of {}; expected a single recipe: {}",
                                  printable(file.string(), 1000), counted(loaded.points.size(), "recipe"), names));
}

std::string name_of_layouts(const Recipe& recipe) {
    std::string name;
    for (const RecipeLayout& layout : recipe.layouts) {
        name += (name.empty() ? "" : " + ") + marked(layout.entry->name, rounding_of(layout.parameters));
    }
    return name;
}

Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes) {
    return parse_recipe(read_recipe_file(file), file, catalogue, changes);
}

void check_matched(const std::vector<LoadedRecipe>& recipes) {
    std::string text;
    for (const UnmatchedChange& change : recipes.empty() ? std::vector<UnmatchedChange>() : recipes.front().unmatched) {
        std::string reasons;
        const bool misses_all = std::ranges::all_of(recipes, [&](const LoadedRecipe& recipe) {
            const auto other = std::ranges::find(recipe.unmatched, change.number, &UnmatchedChange::number);
            if (other == recipe.unmatched.end()) return false;
            reasons += fmt::format("  {}: {}\n", recipe.points.front().file.string(), other->reason);
            return true;
        });
        if (!misses_all) continue;
        text += fmt::format("error: {}: changes nothing in any of these {}\n{}", change.option,
                            counted(recipes.size(), "recipe"), reasons);
    }
    if (text.empty()) return;
    text.pop_back();  // the last line end, which printing adds
    throw RecipeError(text);
}

bool needs_square(const Recipe& recipe) {
    return recipe.node_size > 1 ||
           std::ranges::any_of(recipe.stages, [](const RecipeStage& stage) { return needs_square(stage.contract); }) ||
           std::ranges::any_of(recipe.layouts,
                               [](const RecipeLayout& layout) { return layout.entry->needs(layout.parameters).square; });
}

void check_against(const Recipe& recipe, Index rows, Index columns) {
    const Index node_size = recipe.node_size;
    if (rows != columns && needs_square(recipe)) {
        std::vector<std::string> needed_by;
        for (const RecipeStage& stage : recipe.stages) {
            if (!needs_square(stage.contract)) continue;
            needed_by.push_back(fmt::format("stage '{}' ({})", stage.id, recipe.line_of(stage.place)));
        }
        for (const RecipeLayout& layout : recipe.layouts) {
            if (!layout.entry->needs(layout.parameters).square) continue;
            needed_by.push_back(fmt::format("layout '{}' ({})", layout.entry->name, recipe.line_of(layout.place)));
        }
        if (node_size > 1) needed_by.push_back(fmt::format("node_size = {} in [matrix]", node_size));
        throw InputError(fmt::format("the matrix has {} and {}; expected a square one, for {}", counted(rows, "row"),
                                     counted(columns, "column"), join(needed_by)));
    }
    if (rows % node_size != 0) {
        throw InputError(fmt::format("the matrix has {}; expected a multiple of node_size = {} in [matrix] of {}",
                                     counted(rows, "row"), node_size, recipe.file.string()));
    }
}

Rounding rounding_of(const Recipe& recipe) {
    Rounding coarsest = Rounding::none;
    for (const RecipeLayout& layout : recipe.layouts) coarsest = std::max(coarsest, rounding_of(layout.parameters));
    return coarsest;
}

Rounding rounding_of(const Recipe& recipe, Precision precision) {
    Rounding coarsest = Rounding::none;
    for (const RecipeLayout& layout : recipe.layouts) coarsest = std::max(coarsest, rounding_of(layout.parameters, precision));
    return coarsest;
}

void mark_rounding(Recipe& recipe) { recipe.name = marked(unmarked(recipe.name), rounding_of(recipe)); }

Recipe in_full(Recipe recipe) {
    for (RecipeLayout& layout : recipe.layouts) {
        if (rounding_of(layout.parameters) == Rounding::none) continue;
        layout.parameters = layout.parameters.with("values", std::string("full"));
    }
    mark_rounding(recipe);
    return recipe;
}

}  // namespace workbench
