// Hit rates over the values of a sweep, as a chart.
#pragma once

#include "studies/cache_model/cache_study.hpp"
#include "viz/chart.hpp"

namespace workbench {

/// A curve for each cache and each combination of the other swept values, over the numbers of the last swept parameter. Points
/// that are unsuitable for the layout are left out.
[[nodiscard]] XyChart chart_of(const CacheStudy& study);

/// Throws RecipeError if the points of the sweep cannot be charted: nothing is swept, the last swept value is not a number, or
/// there are more curves than colours.
void check_chartable(const std::vector<Recipe>& recipes, const CacheModel& model);

/// Expects recipes that check_chartable accepts.
[[nodiscard]] ChartPlace chart_place(const Recipe& recipe);

}  // namespace workbench
