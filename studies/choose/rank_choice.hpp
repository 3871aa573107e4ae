// The order of the recipes in a choice.
#pragma once

#include "studies/choose/choose.hpp"

namespace workbench {

/// Puts the choice first (see Choice::ranking), the others by their speed-up, and notes ties.
void rank_choice(Choice& choice, const ChooseOptions& options);

/// True if the confidence intervals of both overlap.
[[nodiscard]] bool are_tied(const Timed& a, const Timed& b);

/// True if noise hides whether the recipe beats the baseline: the interval of its speed-up contains 1 and a worthwhile
/// speed-up, or the machine did other work while it was timed.
[[nodiscard]] bool is_undecided(const Timed& one);

/// Null if nothing was timed.
[[nodiscard]] const Timed* fastest_of(const Choice& choice);

}  // namespace workbench
