#include "support/layouts/layout_recipes.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/contract/errors.hpp"
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
    (void)run_stages(recipe, staged, {}, {});
    return staged;
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
