#include "studies/cache_model/cache_chart.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

std::optional<double> number_of(const ParameterValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
}

/// A label for a curve: "window=256" for "stage.row_sort.window" and 256; the last words for a file or a list.
std::string text_of(const SweptValue& swept) {
    const auto* text = std::get_if<std::string>(&swept.value);
    std::string value = text == nullptr ? to_text(swept.value) : *text;
    if (swept.name == "matrix.path") {
        value = value.substr(value.find_last_of('/') + 1);
        return value.substr(0, value.find('.'));
    }
    return fmt::format("{}={}", swept.name.substr(swept.name.find_last_of('.') + 1), value);
}

}  // namespace

ChartPlace chart_place(const Recipe& recipe) {
    ChartPlace place;
    const std::vector<SweptValue>& values = recipe.sweep.values;
    for (const SweptValue& other : std::span(values).first(values.size() - 1)) {
        place.curve += (place.curve.empty() ? "" : ", ") + text_of(other);
    }
    place.x = number_of(values.back().value).value();
    place.is_segment_width = std::ranges::any_of(recipe.stages, [&](const RecipeStage& stage) {
        return !stage.entry->segment_width.empty() && values.back().name.ends_with(stage.id + "." + stage.entry->segment_width);
    });
    return place;
}

void check_chartable(const std::vector<Recipe>& recipes, const CacheModel& model) {
    const std::vector<SweptValue>& swept = recipes.front().sweep.values;
    if (swept.empty()) throw RecipeError("--plot: nothing is swept; expected --sweep with the numbers to draw over");
    std::set<std::string> curves;
    for (const Recipe& recipe : recipes) {
        if (!number_of(recipe.sweep.values.back().value)) {
            throw RecipeError(
                fmt::format("--plot: {} is not a number; expected one as the last that is swept", swept.back().name));
        }
        curves.insert(chart_place(recipe).curve);
    }
    if (curves.size() * model.caches.size() > most_series) {
        throw RecipeError(fmt::format("--plot: {} of what else is swept, on {} caches, are more than {} curves",
                                      counted_with_commas(curves.size(), "value"), model.caches.size(), most_series));
    }
}

XyChart chart_of(const CacheStudy& study) {
    XyChart chart{"Hit rate of x",
                  fmt::format("{} on a model of {}, {}", study.recipe, study.device, name_of(study.precision)),
                  {},
                  {"hits, % of a cache's requests", false, 0.0, 100.0},
                  {}};
    if (!study.points.empty()) {
        chart.foot = study.points.front().matrix + (study.source.empty() ? "" : "  ·  " + study.source);
    }
    chart.x.label = study.swept.substr(study.swept.find_last_of(' ') + 1);
    std::optional<double> least;
    double most = 0;
    for (std::size_t level = 0; level < study.model.caches.size(); ++level) {
        for (const CachePoint& point : study.points) {
            if (!point.counts) continue;
            const CacheLevelCount& count = point.counts->levels.at(level);
            if (count.requests == 0) continue;
            const std::string name = count.name + (point.place.curve.empty() ? "" : ", " + point.place.curve);
            auto series =
                std::find_if(chart.series.begin(), chart.series.end(), [&](const Series& one) { return one.name == name; });
            if (series == chart.series.end()) series = chart.series.insert(series, Series{name, {}, Drawn::lines});
            series->points.emplace_back(point.place.x,
                                        100 * static_cast<double>(count.hits) / static_cast<double>(count.requests));
            least = std::min(least.value_or(point.place.x), point.place.x);
            most = std::max(most, point.place.x);
        }
    }
    for (Series& series : chart.series) std::sort(series.points.begin(), series.points.end());
    chart.x.logarithmic = least && *least > 0 && most / *least > 10;
    if (!least) return chart;
    constexpr std::size_t most_marks = 8;
    std::set<double> measured;
    for (const CachePoint& point : study.points) measured.insert(point.place.x);
    if (measured.size() <= most_marks) chart.x.marks.assign(measured.begin(), measured.end());
    if (!study.points.front().place.is_segment_width) return chart;
    // The x of a segment of this width fills the cache.
    for (const CacheProperties& cache : study.model.caches) {
        const double filled = static_cast<double>(cache.bytes) / static_cast<double>(value_bytes(study.precision));
        if (filled < *least || filled > most) continue;
        chart.guides.push_back({fmt::format("x of {} columns fills {}", with_commas(std::llround(filled)), cache.name),
                                {{filled, 0}, {filled, 100}}});
    }
    return chart;
}

}  // namespace workbench
