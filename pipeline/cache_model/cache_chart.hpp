// Hit rates over the values of a sweep, as a chart.
#pragma once

#include "pipeline/cache_model/cache_study.hpp"
#include "viz/chart.hpp"

namespace workbench {

/// A curve for each cache and each combination of the other swept values, over the numbers of the last one that is swept.
/// Points that the layout does not take are left out.
[[nodiscard]] XyChart chart_of(const CacheStudy& study);

/// Throws RecipeError where `recipes`, the points of a sweep, make no such chart: nothing is swept, or the last swept value is
/// no number, or there are more curves than colours.
void check_chartable(const std::vector<Recipe>& recipes, const CacheModel& model);

/// Of a recipe that check_chartable let through.
[[nodiscard]] ChartPlace chart_place(const Recipe& recipe);

}  // namespace workbench
