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

/// The table of a layout of several: says of each of its keys that is about a kernel beside the recipe that it cannot be there.
void refuse_sources(const RecipeTable& table, Diagnostics& diagnostics);

/// The sources that [kernel] names: cuda_source and cpu_source, with what the other keys say of them. A path in one of the
/// files is relative to that; one from the command line to the present folder. None where there was an error.
[[nodiscard]] std::vector<KernelSource> check_sources(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                                      const LayoutEntry* layout, Diagnostics& diagnostics);

/// The keys of [kernel] that are about sources.
[[nodiscard]] const std::vector<ParameterDeclaration>& source_parameters();

/// A stage or a layout whose name is known. Its parameters and what follows from them are known too where there was no error.
template <typename Found, typename Facts>
struct Checked {
    const Found* entry = nullptr;
    std::optional<Parameters> parameters;
    std::optional<Facts> facts;
};
using CheckedStage = Checked<StageEntry, StageContract>;
using CheckedLayout = Checked<LayoutEntry, Needs>;

/// A layout with the tables that speak of it.
struct CheckedChoice {
    const RecipeTable* table = nullptr;
    const RecipeTable* kernel = nullptr;
    CheckedLayout layout = {};
    std::optional<ShareId> share = {};  // that it takes, in a list of layouts
};

/// Adds an error for each stage and each layout that does not find what it needs, for each stage that leaves stale cuts or
/// shares behind, and for each share that a list of layouts takes not at all, twice, or that is not there. After a stage about
/// which too little is known, nothing is said to be missing.
void check_needs(const RecipeDocument& document, const std::vector<CheckedStage>& stages,
                 const std::vector<CheckedChoice>& layouts, const Catalogue& catalogue, Diagnostics& diagnostics);

}  // namespace workbench
