// The worth of each stage of the winner: the winner is timed without it.
#pragma once

#include <variant>

#include "studies/choose/choose.hpp"
#include "studies/choose/trials.hpp"

namespace workbench {

/// The recipe without stage number `stage`, or the reason why it is not legal.
[[nodiscard]] std::variant<Recipe, std::string> without_stage(const Recipe& recipe, std::size_t stage,
                                                              const Catalogue& catalogue);

/// Times the first recipe of the ranking without each of its stages, as long as the budget lasts, and adds these recipes to the
/// ranking.
[[nodiscard]] std::vector<WithoutStage> stages_left_out(Trials& trials, const Catalogue& catalogue, Choice& choice,
                                                        const ChooseOptions& options, const Stopwatch& watch);

/// The fastest recipe with other layouts than the first of the ranking; null if none was timed.
[[nodiscard]] const Timed* best_other_layout(const Choice& choice);

}  // namespace workbench
