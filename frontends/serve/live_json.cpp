#include "frontends/serve/live_json.hpp"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "pipeline/recipe/document.hpp"

namespace workbench {
namespace {

using Json = nlohmann::json;

const char* type_name(ParameterType type) {
    switch (type) {
        case ParameterType::boolean: return "boolean";
        case ParameterType::integer: return "integer";
        case ParameterType::real: return "real";
        case ParameterType::choice: return "choice";
        case ParameterType::integers:
        case ParameterType::lengths:
        case ParameterType::shares: return "list";
        default: return "text";
    }
}

Json json_of(const ParameterValue& value) {
    return std::visit([](const auto& plain) { return Json(plain); }, value);
}

template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json json_of(const ParameterDeclaration& declaration) {
    return {{"name", declaration.name},
            {"type", type_name(declaration.type)},
            {"default", declaration.default_value ? json_of(*declaration.default_value) : Json(nullptr)},
            {"optional", declaration.optional},
            {"minimum", json_or_null(declaration.minimum)},
            {"maximum", json_or_null(declaration.maximum)},
            {"words", declaration.words},
            {"unit", declaration.unit},
            {"accepts", accepted_values(declaration)},
            {"help", declaration.help}};
}

Json json_of(const std::vector<ParameterDeclaration>& declarations) {
    Json list = Json::array();
    for (const ParameterDeclaration& declaration : declarations) list.push_back(json_of(declaration));
    return list;
}

template <typename Entry>
Json json_of_entry(const Entry& entry) {
    return {{"name", entry.name}, {"summary", entry.summary}, {"parameters", json_of(entry.parameters)}};
}

template <typename Entry>
Json json_of_entries(const std::vector<Entry>& entries) {
    Json list = Json::array();
    for (const Entry& entry : entries) list.push_back(json_of_entry(entry));
    return list;
}

Json json_of(const RecipeTable& table) {
    Json settings = Json::array();
    for (const Setting& setting : table.settings) {
        settings.push_back({{"key", setting.key},
                            {"line", setting.value_place.line},
                            {"column", setting.value_place.column},
                            {"value", setting.value ? json_of(*setting.value) : Json(nullptr)}});
    }
    return {{"line", table.place.line}, {"settings", std::move(settings)}};
}

}  // namespace

Json json_of(const Catalogue& catalogue) {
    Json layouts = Json::array();
    for (const LayoutEntry& entry : catalogue.layouts) {
        Json layout = json_of_entry(entry);
        layout["kernels"] = Json::array();
        for (const KernelEntry& kernel : entry.kernels) {
            layout["kernels"].push_back(
                {{"name", kernel.name}, {"backend", name_of(kernel.backend)}, {"summary", kernel.summary}});
        }
        layouts.push_back(std::move(layout));
    }
    return {{"stages", json_of_entries(catalogue.stages)},
            {"layouts", std::move(layouts)},
            {"generators", json_of_entries(catalogue.generators)},
            {"recipe", json_of(recipe_declarations())},
            {"matrix", json_of(matrix_declarations())}};
}

Json json_of(const std::vector<RecipeProblem>& problems) {
    std::vector<RecipeProblem> sorted = problems;
    std::ranges::stable_sort(sorted, {}, [](const RecipeProblem& problem) {
        return std::tuple(problem.place.file, problem.place.line, problem.place.column);
    });
    Json list = Json::array();
    for (const auto& [place, message, ignored] : sorted) {
        const bool in_text = place.file == 0;  // the line and the column of an option are 0
        list.push_back({{"line", in_text ? place.line : 0}, {"column", in_text ? place.column : 0}, {"message", message}});
    }
    return list;
}

Json outline_of(const std::string& text, const std::filesystem::path& file) {
    RecipeDocument document;
    try {
        Diagnostics diagnostics(file.string(), text);
        document = read_document(0, diagnostics);
    } catch (const RecipeError&) {
        return nullptr;
    }
    Json stages = Json::array();
    for (const RecipeTable& stage : document.stages) stages.push_back(json_of(stage));
    Json layouts = Json::array();
    for (const LayoutTables& layout : document.layouts) layouts.push_back(json_of(layout.own));
    return {{"recipe", json_of(document.recipe)}, {"matrix", json_of(document.matrix)}, {"layout", json_of(document.layout)},
            {"kernel", json_of(document.kernel)}, {"stages", std::move(stages)},        {"layouts", std::move(layouts)}};
}

}  // namespace workbench
