// Checks that turn a document into a recipe: what its names refer to, and whether they fit together.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/recipe/document.hpp"

namespace workbench {

template <typename Entry>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Entry>& entries) {
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    return names;
}

/// The values of a table for some declarations; keys in `others` are ignored. Adds an error for each refused value, each
/// unknown key and each missing parameter, and then returns none. `owner` names in messages what has the parameters: "stage
/// 'split'".
[[nodiscard]] std::optional<Parameters> check_parameters(const RecipeTable& table, const std::string& owner,
                                                         const std::vector<ParameterDeclaration>& declarations,
                                                         const std::vector<std::string>& others, Diagnostics& diagnostics);

/// The parameters of a stage and, if it takes other keys, declarations for those keys of the table.
[[nodiscard]] std::vector<ParameterDeclaration> declarations_of(const StageEntry& entry, const RecipeTable& table);

/// The table with absolute paths of its files, and words of its commands that are files. Adds an error for each file that is
/// missing, or outside the folder that must contain all files.
[[nodiscard]] RecipeTable with_absolute_paths(const RecipeTable& table, const RecipeDocument& document,
                                              const std::string& owner, const std::vector<ParameterDeclaration>& declarations,
                                              Diagnostics& diagnostics);

/// The code beside the recipe that a run executes: sources and programs of stages, and sources of kernels.
[[nodiscard]] std::vector<RecipeCode> code_of(const RecipeDocument& document, const Recipe& recipe);

/// True if this setting of [matrix] selects a matrix: path, generate, or `rows` with the rows themselves.
[[nodiscard]] bool names_matrix(const Setting& setting);

/// The choice of the [matrix] table, including changes by the command line. Paths in a file are relative to it. Stores the
/// table's node_size in `node_size`, or refuses that key if the pointer is null.
[[nodiscard]] MatrixChoice check_matrix(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                        const Catalogue& catalogue, Index* node_size, Diagnostics& diagnostics);

/// The type of a parameter with this value, for code that declares none.
[[nodiscard]] ParameterType type_of(const ParameterValue& value);

/// The path of a file with the source of `of`, such as "a kernel", that a setting of `table` names. Empty after an error.
[[nodiscard]] std::filesystem::path check_source_file(const Setting& setting, std::span<const std::filesystem::path> files,
                                                      std::string_view table, std::string_view of, Diagnostics& diagnostics);

/// The kernel sources of [kernel], or of the kernel table of a [[layout]]: cuda_source and cpu_source with the keys that
/// describe them. Paths in a file are relative to it, others to the current folder. Empty after an error.
[[nodiscard]] std::vector<KernelSource> check_sources(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                                      const LayoutEntry* layout, Diagnostics& diagnostics);

/// A stage or layout; what could not be determined because of an error is missing.
template <typename Found, typename Facts>
struct Checked {
    const Found* entry = nullptr;
    std::optional<Parameters> parameters;
    std::optional<Facts> facts;
};
using CheckedStage = Checked<StageEntry, StageContract>;
using CheckedLayout = Checked<LayoutEntry, Needs>;

/// A layout with its tables.
struct CheckedChoice {
    const RecipeTable* table = nullptr;
    const RecipeTable* kernel = nullptr;
    CheckedLayout layout = {};
    std::optional<ShareId> share = {};  // of a [[layout]]
};

/// True if the matrix must be square for the stage.
[[nodiscard]] inline bool needs_square(const StageContract& contract) {
    return contract.needs.square || contract.acts == Acts::symmetric;
}

/// True if the matrix must be square for a stage, a layout or the nodes of the recipe.
[[nodiscard]] bool needs_square(const Recipe& recipe);

/// The catalogue and rules that a recipe is checked against.
struct CheckedWith {
    const Catalogue& catalogue;
    std::string_view no_code_because = {};  // see RecipeChanges, as the next
    bool unread_formats = false;
};

/// Adds an error for each piece of code beside the recipe, if there must be none. Returns true if it added one.
bool refuse_code(std::span<const RecipeCode> all, const CheckedWith& with, Diagnostics& diagnostics);

/// Stores name, source, device and prepare of a table in the recipe. `owner` names the table in messages: "[recipe]".
void check_header(const RecipeTable& table, const std::string& owner, Recipe& recipe, Diagnostics& diagnostics);

[[nodiscard]] CheckedStage check_stage(const RecipeTable& table, const RecipeDocument& document, const Catalogue& catalogue,
                                       Diagnostics& diagnostics);

/// The layout that a table names. `others` are its keys that are not parameters.
[[nodiscard]] CheckedLayout check_layout_table(const RecipeTable& table, const std::vector<std::string>& others,
                                               std::span<const std::filesystem::path> files, const CheckedWith& with,
                                               Diagnostics& diagnostics);

/// The share that a [[layout]] stores; none after an error.
[[nodiscard]] std::optional<ShareId> check_share(const RecipeTable& table, Diagnostics& diagnostics);

/// The value of side_by_side in [kernel].
[[nodiscard]] bool check_side_by_side(const RecipeTable& table, Diagnostics& diagnostics);

/// A layout of a recipe with its share, kernels and sources; complete_layout adds the rest.
[[nodiscard]] RecipeLayout check_kernel_table(const CheckedChoice& choice, std::span<const std::filesystem::path> files,
                                              const Catalogue& catalogue, Diagnostics& diagnostics);

/// The stage of a recipe, after a check without errors.
[[nodiscard]] RecipeStage stage_of(const RecipeTable& table, CheckedStage checked);

/// Adds entry, parameters and kernels from sources, after a check without errors.
void complete_layout(RecipeLayout& layout, CheckedChoice choice, const Catalogue& catalogue);

/// The recipe of a document without sweeps; none after an error.
[[nodiscard]] std::optional<Recipe> check_document(const RecipeDocument& document, const CheckedWith& with,
                                                   Diagnostics& diagnostics);

/// Adds an error for each stage and layout whose needs are not met, for each stage that leaves stale cuts or shares behind, and
/// for each share that the layouts store twice, never, or that does not exist. After a stage with errors nothing is reported as
/// missing.
void check_needs(const RecipeDocument& document, const std::vector<CheckedStage>& stages,
                 const std::vector<CheckedChoice>& layouts, const Catalogue& catalogue, Diagnostics& diagnostics);

/// The names of the shares into which stages without errors split the nonzeros; empty if they do not.
[[nodiscard]] std::vector<std::string> shares_after(const RecipeDocument& document, const std::vector<CheckedStage>& stages,
                                                    const Catalogue& catalogue);

}  // namespace workbench
