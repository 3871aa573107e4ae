#include "studies/cache_model/cache_study.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/run/runner.hpp"

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

using Json = nlohmann::ordered_json;

double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? "-" : fmt::format("{:.1f} %", 100 * share(part, whole));
}

std::vector<std::string> cells_of(const CachePoint& point) {
    const CacheCounts& counts = *point.counts;
    std::vector<std::string> cells{point.value, with_commas(counts.reads), with_commas(counts.requests)};
    for (const CacheLevelCount& level : counts.levels) cells.push_back(percent(level.hits, level.requests));
    cells.push_back(byte_count(static_cast<double>(counts.from_memory()) * cache_sector));
    cells.push_back(counts.sectors == 0 ? "-" : fmt::format("{:.2f} x", share(counts.from_memory(), counts.sectors)));
    return cells;
}

Json json_of(const CachePoint& point) {
    Json json{{"value", point.value},
              {"matrix", point.matrix},
              {"rows", point.rows},
              {"columns", point.columns},
              {"nonzeros", point.nonzeros}};
    if (!point.counts) {
        json["unsuitable"] = point.unsuitable;
        return json;
    }
    const CacheCounts& counts = *point.counts;
    json["reads"] = counts.reads;
    json["requests"] = counts.requests;
    json["different_sectors"] = counts.sectors;
    json["caches"] = Json::array();
    for (const CacheLevelCount& level : counts.levels) {
        json["caches"].push_back({{"name", level.name},
                                  {"requests", level.requests},
                                  {"hits", level.hits},
                                  {"hit_rate", share(level.hits, level.requests)}});
    }
    json["bytes_from_memory"] = counts.from_memory() * cache_sector;
    return json;
}

Json json_of(const CacheModel& model) {
    Json caches = Json::array();
    for (const CacheProperties& cache : model.caches) {
        caches.push_back({{"name", cache.name},
                          {"bytes", cache.bytes},
                          {"ways", cache.ways},
                          {"each_processor_has", cache.each_processor_has}});
    }
    return {{"processors", model.processors},
            {"resident_warps", model.resident_warps},
            {"block_warps", model.block_warps},
            {"sector_bytes", cache_sector},
            {"caches", caches}};
}

std::string describe(const CacheProperties& cache) {
    const std::string where = cache.each_processor_has == 0   ? "shared"
                              : cache.each_processor_has == 1 ? "in each processor"
                                                              : fmt::format("{} in each processor", cache.each_processor_has);
    return fmt::format("{} ({}, {} ways, {})", cache.name, byte_count(static_cast<double>(cache.bytes)), cache.ways, where);
}

/// `device`: for automatic parameters of the layout.
template <ValueType Value>
void count(const Recipe& recipe, StagedMatrix& staged, const CacheModel& model, const DeviceProperties* device,
           CachePoint& point) {
    try {
        const BuiltLayouts<Value> built = build_layouts<Value>(recipe, staged, {.device = device});
        const auto walk = choose_schedule(recipe.layouts.front())->walk.template get<Value>();
        point.counts = count_cache_hits(*built.shares.front().layout.real, walk, model);
    } catch (const Unsuitable& reason) {
        point.unsuitable = reason.what();
    }
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

std::string CacheStudy::text() const {
    TextTable table;
    table.header = {swept, "reads of x", "requests"};
    for (const CacheProperties& cache : model.caches) table.header.push_back(cache.name + " hits");
    table.header.insert(table.header.end(), {"from memory", "of x once"});
    std::string notes;
    for (const CachePoint& point : points) {
        if (point.counts) table.rows.push_back(cells_of(point));
        if (!point.counts) notes += fmt::format("\n  {} = {} is unsuitable: {}", swept, point.value, point.unsuitable);
    }
    std::string caches;
    for (const CacheProperties& cache : model.caches) caches += (caches.empty() ? "" : ", ") + describe(cache);
    return fmt::format(
        "{} on a model of {}, {}\n\n{}{}\n"
        "requests: sectors of {} bytes that a warp asks for in a step; hits: of the requests that come to that cache.\n"
        "The model: {};\n{} processors of {} resident warps in blocks of {}, which make their steps in turn; what was used\n"
        "longest ago is replaced. Only x goes through the caches, also x that a kernel copies to shared memory. Ways and order are\n"
        "assumed, not measured.\n",
        recipe, device, name_of(precision), table.text(), notes.empty() ? "" : notes + "\n", cache_sector, caches,
        model.processors, model.resident_warps, model.block_warps);
}

std::string to_json(const CacheStudy& study) {
    Json points = Json::array();
    for (const CachePoint& point : study.points) points.push_back(json_of(point));
    const Json json{{"recipe", study.recipe},        {"device", study.device}, {"precision", name_of(study.precision)},
                    {"model", json_of(study.model)}, {"swept", study.swept},   {"points", points}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

CachePoint study_cache(const Recipe& recipe, const CsrMatrix& matrix, Precision precision, const CacheModel& model,
                       const StageContext& context) {
    if (recipe.is_hybrid()) {
        throw RecipeError(fmt::format("error: {}: the cache model follows one layout; expected [layout], found {} layouts",
                                      recipe.line_of(recipe.layouts.front().place), recipe.layouts.size()));
    }
    if (choose_schedule(recipe.layouts.front()) == nullptr) {
        throw RecipeError(
            fmt::format("error: {}: layout '{}' has no CUDA kernel whose reads are known; expected one with a "
                        "schedule (.cuda<SCHEDULE>(...) in a format beside the recipe)",
                        recipe.line_of(recipe.layouts.front().place), recipe.layouts.front().entry->name));
    }
    check_against(recipe, matrix.rows, matrix.columns);
    CachePoint point;
    point.rows = matrix.rows;
    point.columns = matrix.columns;
    point.nonzeros = matrix.nonzeros();
    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    const StageContext of_recipe = stage_context(recipe, precision, context.device);
    static_cast<void>(apply_stages(recipe, staged, of_recipe));
    if (precision == Precision::f32) {
        count<float>(recipe, staged, model, of_recipe.device, point);
    } else {
        count<double>(recipe, staged, model, of_recipe.device, point);
    }
    return point;
}

}  // namespace workbench
