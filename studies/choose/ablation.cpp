#include "studies/choose/ablation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// The first error of a recipe, without its place and the lines that show it.
std::string first_error(const std::string& text) {
    std::string line = text.substr(0, text.find('\n'));
    // "error: FILE:LINE:COLUMN: what is wrong"
    std::size_t colons = 0;
    for (std::size_t at = line.find(':'); at != std::string::npos && colons < 4; at = line.find(':', at + 1)) {
        if (++colons == 4) line = line.substr(std::min(at + 2, line.size()));
    }
    return line;
}

/// Adds a recipe to the ranking, or replaces its earlier times.
void put(Choice& choice, Timed timed) {
    const auto same = std::find_if(choice.ranking.begin(), choice.ranking.end(),
                                   [&](const Timed& one) { return one.identity == timed.identity; });
    if (same != choice.ranking.end()) {
        timed.recipe.name = same->recipe.name;
        *same = std::move(timed);
    } else {
        choice.ranking.push_back(std::move(timed));
    }
}

}  // namespace

std::variant<Recipe, std::string> without_stage(const Recipe& recipe, std::size_t stage, const Catalogue& catalogue) {
    Recipe less = recipe;
    less.stages.erase(less.stages.begin() + static_cast<std::ptrdiff_t>(stage));
    try {
        Recipe checked = parse_recipe(resolved_recipe(less), "winner", catalogue);
        checked.file = recipe.file;
        return checked;
    } catch (const RecipeError& error) {
        return first_error(error.what());
    }
}

std::vector<WithoutStage> stages_left_out(Trials& trials, const Catalogue& catalogue, Choice& choice,
                                          const ChooseOptions& options, const Stopwatch& watch) {
    const Timed winner = choice.ranking.front();
    std::vector<WithoutStage> without;
    for (std::size_t i = 0; i < winner.recipe.stages.size(); ++i) {
        const std::string& stage = winner.recipe.stages[i].id;
        without.push_back({.stage = stage, .seconds = {}, .interval = {}});
        WithoutStage& one = without.back();
        std::variant<Recipe, std::string> less = without_stage(winner.recipe, i, catalogue);
        if (const auto* const reason = std::get_if<std::string>(&less)) {
            one.legal = false;
            one.reason = *reason;
            continue;
        }
        Recipe& recipe = std::get<Recipe>(less);
        recipe.name = extended_name(winner.recipe.name, ", without " + stage);
        for (RecipeLayout& layout : recipe.layouts) layout.kernels.clear();  // another kernel may suit better
        RecipeTrial trial = first_trial(recipe);
        trial.price = trials.price(recipe);
        if (choice.stopped || trial.price.trial > options.budget_seconds - watch.seconds()) {
            one.reason = choice.stopped ? "the search was stopped" : "the budget was spent";
            continue;
        }
        const auto is_same = [&](const Timed& known) { return known.identity == trial.identity; };
        if (std::none_of(choice.ranking.begin(), choice.ranking.end(), is_same)) ++choice.search.tried;
        const std::size_t before = choice.not_timed.size();
        TrialResult result = trials.run(trial, options.timing, "timing the winner without " + stage);
        if (choice.stopped) {
            one.reason = "the search was stopped";
        } else if (!result.record) {
            one.reason = choice.not_timed.size() > before ? choice.not_timed.back().reason : "not suitable";
        } else {
            one.seconds = result.record->seconds;
            one.interval = result.record->interval;
            put(choice, trials.timed_of(trial, result));
            choice.reports.push_back(std::move(result.report));
        }
    }
    return without;
}

const Timed* best_other_layout(const Choice& choice) {
    const std::string layouts = name_of_layouts(choice.ranking.front().recipe);
    const Timed* best = nullptr;
    for (const Timed& one : choice.ranking) {
        if (name_of_layouts(one.recipe) == layouts) continue;
        if (best == nullptr || one.record.seconds < best->record.seconds) best = &one;
    }
    return best;
}

}  // namespace workbench
