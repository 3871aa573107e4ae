#include "frontends/cli/recipe_sizes.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "frontends/cli/matrix_runner.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/chain.hpp"

namespace workbench {
namespace {

std::string title_of(const Recipe& recipe) {
    RunReport report;
    report.recipe_name = recipe.name;
    report.sweep = recipe.sweep;
    return report.title();
}

template <ValueType Value>
LayoutOutcome built_size(const Recipe& recipe, StagedMatrix& staged) {
    try {
        return build_layouts<Value>(recipe, staged, {.device = find_device_model(recipe.device)}).outcome;
    } catch (const Unsuitable& reason) {
        LayoutOutcome outcome = outcome_of(recipe.layouts.front(), precision_of<Value>);
        outcome.unsuitable = reason.what();
        return outcome;
    }
}

/// The sizes of recipes that share a matrix.
std::vector<RecipeSize> sizes_on(const CsrMatrix& matrix, std::span<const Recipe> recipes, const DeviceProperties* gpu,
                                 const Progress& progress) {
    std::vector<std::vector<Chain>> chains;
    for (const Recipe& recipe : recipes) chains.push_back(chains_of(recipe, {Precision::f32, Precision::f64}, gpu));
    SharedStages stages(matrix);
    stages.expect(chains);
    std::vector<RecipeSize> sizes;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        const Recipe& recipe = recipes[i];
        RecipeSize size{.recipe = title_of(recipe), .f32 = {}, .f64 = {}};
        progress.show(size.recipe);
        stages.no_longer_expect(chains[i]);
        check_against(recipe, matrix.rows, matrix.columns);
        std::vector<StageOutcome> outcomes;
        stages.run({recipe, {}}, chains[i], outcomes, [&](const Chain& chain, StagedMatrix& staged) {
            for (const Precision precision : chain.precisions) {
                if (precision == Precision::f32) size.f32 = built_size<float>(recipe, staged);
                if (precision == Precision::f64) size.f64 = built_size<double>(recipe, staged);
            }
        });
        sizes.push_back(std::move(size));
    }
    return sizes;
}

std::vector<std::string> cells_of(const RecipeSize& size, Offset nonzeros) {
    const auto bytes = [](const LayoutOutcome& layout) {
        return layout.unsuitable.empty() ? with_commas(static_cast<long long>(layout.bytes())) : "-";
    };
    std::vector<std::string> cells{size.recipe, "-", "-", bytes(size.f32), bytes(size.f64), "-"};
    if (!size.f64.unsuitable.empty()) return cells;
    cells[1] = with_commas(static_cast<long long>(size.f64.slots()));
    if (const auto padding = size.padding()) cells[2] = percent(*padding);
    if (nonzeros > 0) cells[5] = significant(static_cast<double>(size.f64.bytes()) / static_cast<double>(nonzeros));
    return cells;
}

}  // namespace

std::optional<double> RecipeSize::padding() const {
    const auto slots = static_cast<Offset>(f64.slots());
    if (!f64.unsuitable.empty() || slots == 0 || slots < f64.nonzeros) return std::nullopt;
    return static_cast<double>(slots - f64.nonzeros) / static_cast<double>(slots);
}

std::vector<RecipeSizes> recipe_sizes(std::vector<Recipe> recipes) {
    sort_by_matrix(recipes);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const Progress progress;
    std::vector<RecipeSizes> all;
    for (auto first = recipes.begin(); first != recipes.end();) {
        const auto last = std::find_if(first, recipes.end(), [&](const Recipe& each) { return each.matrix != first->matrix; });
        progress.show("reading the matrix");
        const auto [matrix, report] = load_matrix(first->matrix);
        all.push_back({report, sizes_on(matrix, {first, last}, gpu == nullptr ? nullptr : &gpu->properties(), progress)});
        first = last;
    }
    return all;
}

std::string to_text(const std::vector<RecipeSizes>& sizes) {
    std::string text;
    for (const auto& [matrix, recipes] : sizes) {
        TextTable table;
        table.header = {"recipe", "slots", "padding", "f32 bytes", "f64 bytes", "f64 B/nonzero"};
        std::string notes;
        for (const RecipeSize& size : recipes) {
            table.rows.push_back(cells_of(size, matrix.nonzeros));
            const std::string& reason = size.f64.unsuitable.empty() ? size.f32.unsuitable : size.f64.unsuitable;
            if (!reason.empty()) notes += fmt::format("  {} is unsuitable: {}\n", size.recipe, reason);
        }
        text += fmt::format("{}{}: {}\n\n{}{}{}", text.empty() ? "" : "\n", matrix.source,
                            size_text(matrix.rows, matrix.columns, matrix.nonzeros), table.text(), notes.empty() ? "" : "\n",
                            notes);
    }
    return text;
}

std::string to_json(const std::vector<RecipeSizes>& sizes) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const auto& [matrix, recipes] : sizes) {
        for (const RecipeSize& size : recipes) {
            const bool suits = size.f64.unsuitable.empty();
            const auto padding = size.padding();
            list.push_back({{"recipe", size.recipe},
                            {"source", matrix.source},
                            {"rows", matrix.rows},
                            {"columns", matrix.columns},
                            {"nonzeros", matrix.nonzeros},
                            {"slots", suits ? Json(size.f64.slots()) : Json(nullptr)},
                            {"padding", padding ? Json(*padding) : Json(nullptr)},
                            {"bytes_f32", size.f32.unsuitable.empty() ? Json(size.f32.bytes()) : Json(nullptr)},
                            {"bytes_f64", suits ? Json(size.f64.bytes()) : Json(nullptr)},
                            {"unsuitable", suits ? Json(nullptr) : Json(size.f64.unsuitable)}});
        }
    }
    return Json{{"recipes", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace workbench
