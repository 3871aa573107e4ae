#include "pipeline/run/recipe_storage.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "viz/storage_text.hpp"

namespace workbench {
namespace {

/// Rows of the lengths 3, 3, 1, 2, 3, 1, whose values are numbered row by row, so that each can be found in an array.
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

/// `use = "NAME"`, or the file of a format beside the recipe.
std::string layout_line(const LayoutEntry& layout) {
    return layout.file.empty() ? fmt::format("use = \"{}\"", layout.name)
                               : fmt::format("source = {}", to_text(ParameterValue(layout.file.string())));
}

/// An example of the layout, which names it as a layout of the program.
std::string with_layout_line(std::string example, const LayoutEntry& layout) {
    const std::string use = fmt::format("use = \"{}\"", layout.name);
    const std::size_t at = example.find(use);
    return at == std::string::npos ? example : example.replace(at, use.size(), layout_line(layout));
}

}  // namespace

std::vector<LayoutExample> examples_of(const LayoutEntry& layout, const Catalogue& catalogue) {
    std::vector<std::string> texts = layout.examples;
    if (texts.empty()) texts.push_back(fmt::format("[layout]\n{}\n", layout_line(layout)));
    std::vector<LayoutExample> examples;
    for (const std::string& text : texts) {
        const Recipe recipe = parse_recipe(std::string(example_matrix) + with_layout_line(text, layout),
                                           "the example of " + layout.name, catalogue);
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

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const BuiltLayouts<Value>& built) {
    std::vector<MappedLayout<Value>> mapped;
    for (std::size_t i = 0; i < built.shares.size(); ++i) {
        const auto& [id, layout, outcome] = built.shares[i];
        mapped.push_back({.layout = layout.real.get(),
                          .name = outcome.name,
                          .schedule = choose_schedule(recipe.layouts[i]),
                          .share = outcome.share,
                          .rows = layout.rows});
    }
    return map_storage<Value>(matrix, mapped);
}

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, StagedMatrix staged) {
    const BuiltLayouts<Value> built = build_layouts<Value>(recipe, staged, {});
    if (!built.outcome.unsuitable.empty()) throw Unsuitable(built.outcome.unsuitable);
    return storage_of(recipe, staged.matrix, built);
}

template StorageMap storage_of(const Recipe&, const CsrMatrix&, const BuiltLayouts<float>&);
template StorageMap storage_of(const Recipe&, const CsrMatrix&, const BuiltLayouts<double>&);
template StorageMap storage_of<float>(const Recipe&, StagedMatrix);
template StorageMap storage_of<double>(const Recipe&, StagedMatrix);

}  // namespace workbench
