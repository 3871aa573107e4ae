// From a document to a recipe: the meaning of its words, and whether they fit together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/recipe/document.hpp"

namespace workbench {

/// The values of a table for some declarations; the keys in `others` are not for them. Adds an error for each value that is
/// refused, each key that is not declared, and each parameter that is missing. None where there was an error.
/// `owner` is who takes the parameters, in words: "stage 'split'".
[[nodiscard]] std::optional<Parameters> check_parameters(const RecipeTable& table, const std::string& owner,
                                                         const std::vector<ParameterDeclaration>& declarations,
                                                         const std::vector<std::string>& others, Diagnostics& diagnostics);

/// Does the setting of [matrix] say which matrix it is? `rows` does where it is the rows themselves, not their number.
[[nodiscard]] bool names_matrix(const Setting& setting);

/// The [matrix] table, or what the command line has put in its place: the only function that makes a choice. A path in one of
/// the files is relative to that. `node_size`: where it goes; null: it is not taken.
[[nodiscard]] MatrixChoice check_matrix(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                        const Catalogue& catalogue, Index* node_size, Diagnostics& diagnostics);

/// A stage or a layout whose name is known. Its parameters and what follows from them are known too where there was no error.
template <typename Found, typename Facts>
struct Checked {
    const Found* entry = nullptr;
    std::optional<Parameters> parameters;
    std::optional<Facts> facts;
};
using CheckedStage = Checked<StageEntry, StageContract>;
using CheckedLayout = Checked<LayoutEntry, Needs>;

/// Adds an error for each stage, and for the layout, that does not find what it needs, and for each stage that leaves stale
/// cuts or shares behind. After a stage about which too little is known, nothing is said to be missing.
void check_needs(const RecipeDocument& document, const std::vector<CheckedStage>& stages, const CheckedLayout& layout,
                 const Catalogue& catalogue, Diagnostics& diagnostics);

}  // namespace workbench
