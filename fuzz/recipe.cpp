// The text of a recipe or space followed by overrides, with a byte 0xFF before each. The recipe may extend those of fuzz/bases,
// and no other file.
#include <vector>

#include "fuzz/target.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/space.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    const std::vector<std::string> texts = fuzz::texts_of(data, size);
    const std::vector<std::string> overrides(texts.begin() + 1, texts.end());
    fuzz::act_or_refuse([&] {
        const std::filesystem::path bases = fuzz::source_path("fuzz/bases");
        const RecipeChanges changes{.overrides = overrides, .bases_within = bases};
        std::vector<Recipe> recipes;
        if (has_space_table(texts.front())) {
            const Space space = parse_space(texts.front(), bases / "fuzz.toml", catalogue(), changes);
            for (const std::uint64_t number : {std::uint64_t{0}, space.count() / 2, space.count() - 1}) {
                recipes.push_back(space.recipe(space.point(number)));
            }
        } else {
            recipes = parse_points(texts.front(), bases / "fuzz.toml", catalogue(), changes).points;
        }
        for (const Recipe& recipe : recipes) {
            // The resolved recipe must be the same recipe.
            const std::string resolved = resolved_recipe(recipe);
            if (resolved_recipe(parse_recipe(resolved, "resolved.toml", catalogue())) != resolved) {
                fuzz::fail("another recipe", resolved);
            }
        }
    });
    return 0;
}
