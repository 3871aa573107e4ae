// The text of a recipe followed by overrides. A byte 0xFF, which does not occur in UTF-8, begins each override. The recipe may
// extend those of fuzz/bases, and no other file.
#include <cstdlib>
#include <vector>

#include "fuzz/target.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    std::string_view rest = fuzz::text_of(data, size);
    std::vector<std::string> texts;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = rest.find('\xFF');
        texts.emplace_back(rest.substr(0, end));
        if (end != std::string_view::npos) rest.remove_prefix(end + 1);
    }
    const std::vector<std::string> overrides(texts.begin() + 1, texts.end());
    fuzz::act_or_refuse([&] {
        const std::filesystem::path bases = WORKBENCH_FUZZ_BASES;
        const RecipeChanges changes{.overrides = overrides, .bases_within = bases};
        for (const Recipe& recipe : parse_points(texts.front(), bases / "fuzz.toml", catalogue(), changes).points) {
            // The resolved recipe must be the same recipe.
            const std::string resolved = resolved_recipe(recipe);
            if (resolved_recipe(parse_recipe(resolved, "resolved.toml", catalogue())) != resolved) std::abort();
        }
    });
    return 0;
}
