// Cache hit rates of x for one recipe, for several values of one parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "studies/cache_model/cache_model.hpp"
#include "viz/chart.hpp"

namespace workbench {

/// The place of a point in a chart, and the curve of each cache to which it
/// belongs.
struct ChartPlace {
    double x = 0;
    std::string curve;
    bool is_segment_width = false;  // x is the number of columns of a segment
};

/// The study of one value.
struct CachePoint {
    std::string value;   // of the swept parameter
    std::string matrix;  // where it came from
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    std::optional<CacheCounts> counts;  // none if the layout does not take the matrix
    std::string unsuitable;             // why not
    ChartPlace place;                   // if a chart is requested
};

struct CacheStudy {
    std::string recipe;  // its name
    std::string device;  // "NVIDIA Tesla K20X"
    Precision precision = Precision::f64;
    CacheModel model;
    std::string swept;  // "stage.column_segmentation.width"; empty: nothing is
    std::vector<CachePoint> points;
    std::string source = {};  // where the recipe's idea comes from; may be empty

    /// A table with a line a point, and the assumptions of the model.
    [[nodiscard]] std::string text() const;
};

[[nodiscard]] std::string to_json(const CacheStudy& study);

/// Runs the stages of a recipe on a matrix, builds the layout and counts. `auto` decisions are made for the recipe's device, or
/// for that of `context`.
/// Throws InputError where the matrix does not suit a stage, MachineError where memory lacks.
[[nodiscard]] CachePoint study_cache(const Recipe& recipe, const CsrMatrix& matrix, Precision precision,
                                     const CacheModel& model, const StageContext& context);

/// A curve for each cache and each combination of the other swept values, over the numbers of the last swept parameter. Points
/// that are unsuitable for the layout are left out.
[[nodiscard]] XyChart chart_of(const CacheStudy& study);

/// Throws RecipeError if the points of the sweep cannot be charted: nothing is swept, the last swept value is not a number, or
/// there are more curves than colours.
void check_chartable(const std::vector<Recipe>& recipes, const CacheModel& model);

/// Expects recipes that check_chartable accepts.
[[nodiscard]] ChartPlace chart_place(const Recipe& recipe);

}  // namespace workbench
