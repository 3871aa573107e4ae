#include "pipeline/run/layout_examples.hpp"

#include <fmt/format.h>

#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/run/chain.hpp"
#include "pipeline/run/recipe_storage.hpp"
#include "viz/storage_text.hpp"

namespace workbench {
namespace {

/// Rows of the lengths 3, 3, 1, 2, 3, 1, whose values tell where they were.
constexpr std::string_view example_matrix = R"([matrix]
rows = ["1 2 3 . . .",
        ". 4 5 . 6 .",
        ". . 7 . . .",
        ". . . 8 . 9",
        "10 . . . 11 12",
        ". . . . . 13"]
)";

std::string stripped(std::string text) {
    text.erase(0, text.find_first_not_of('\n'));
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

}  // namespace

std::vector<LayoutExample> examples_of(const LayoutEntry& layout, const Catalogue& catalogue) {
    std::vector<std::string> texts = layout.examples;
    if (texts.empty()) texts.push_back(fmt::format("[layout]\nuse = \"{}\"\n", layout.name));
    std::vector<LayoutExample> examples;
    for (const std::string& text : texts) {
        const Recipe recipe = parse_recipe(std::string(example_matrix) + text, "the example of " + layout.name, catalogue);
        LayoutExample example{stripped(text), stage_input(csr_from_rows(std::get<InlineMatrix>(recipe.matrix.from).rows)), {}};
        (void)apply_stages(recipe, example.staged, stage_context(recipe, Precision::f64, nullptr));
        example.storage = storage_of<double>(recipe, example.staged);
        examples.push_back(std::move(example));
    }
    return examples;
}

std::string to_text(const LayoutExample& example) {
    return fmt::format("{}\n\n{}\n{}", example.recipe, draw_matrix(example.staged), draw_storage(example.storage));
}

}  // namespace workbench
