#include "support/layouts/layout_recipes.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

std::filesystem::path folder_of_layouts() {
    const char* given = std::getenv("WORKBENCH_LAYOUT_RECIPES");
    return given != nullptr ? given : WORKBENCH_SOURCE_DIR "/tests/layouts";
}

std::vector<LayoutRecipe> load_all(const std::filesystem::path& folder) {
    std::vector<LayoutRecipe> recipes;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() == ".toml") {
            recipes.push_back({file.path().stem().string(), load_recipe(file.path(), catalogue())});
        }
    }
    if (recipes.empty()) throw std::runtime_error("no recipes in " + folder.string());
    std::sort(recipes.begin(), recipes.end(), [](const LayoutRecipe& a, const LayoutRecipe& b) { return a.name < b.name; });
    return recipes;
}

/// The battery, and parts of it with values that are equal, in all or in each row or column, or exact in f32.
std::vector<NamedMatrix> matrices_to_code() {
    std::vector<NamedMatrix> all = battery();
    for (const NamedMatrix& one : battery()) {
        NamedMatrix equal{one.name + " of equal values", one.matrix};
        std::fill(equal.matrix.values.begin(), equal.matrix.values.end(), -2.5);
        all.push_back(std::move(equal));
    }
    NamedMatrix of_rows{"one value a row", battery().back().matrix};
    NamedMatrix of_columns{"one value a column", battery().back().matrix};
    for (Index row = 0; row < of_rows.matrix.rows; ++row) {
        for (Offset k = of_rows.matrix.row_offsets[row]; k < of_rows.matrix.row_offsets[row + 1]; ++k) {
            of_rows.matrix.values[k] = 1.0 / (3 + row);
            of_columns.matrix.values[k] = 1.0 / (3 + of_columns.matrix.column_indices[k]);
        }
    }
    all.push_back(std::move(of_rows));
    all.push_back(std::move(of_columns));
    NamedMatrix exact{"exact in f32", battery().back().matrix};
    for (double& value : exact.matrix.values) value = static_cast<float>(value);
    all.push_back(std::move(exact));
    return all;
}

}  // namespace

bool LayoutRecipe::takes(const CsrMatrix& matrix) const {
    try {
        check_against(recipe, matrix.rows, matrix.columns);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

StagedMatrix LayoutRecipe::stage(const CsrMatrix& matrix) const {
    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    (void)apply_stages(recipe, staged, {});
    return staged;
}

const std::vector<NamedMatrix>& LayoutRecipe::matrices() const {
    static const std::vector<NamedMatrix> to_code = matrices_to_code();
    const bool coded = std::any_of(recipe.layouts.begin(), recipe.layouts.end(),
                                   [](const RecipeLayout& one) { return codes_values(one.parameters); });
    return coded ? to_code : battery();
}

const std::vector<LayoutRecipe>& layout_recipes() {
    static const std::vector<LayoutRecipe> all = load_all(folder_of_layouts());
    return all;
}

const std::vector<LayoutRecipe>& hybrid_recipes() {
    static const std::vector<LayoutRecipe> all = load_all(folder_of_layouts() / "hybrids");
    return all;
}

}  // namespace workbench
