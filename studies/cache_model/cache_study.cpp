#include "studies/cache_model/cache_study.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

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
        "longest ago is replaced. Only x goes through the caches. Ways and order are assumed, not measured.\n",
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
