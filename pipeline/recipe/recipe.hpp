// The recipe language: a TOML file that names a matrix, a chain of stages, a layout and kernels.
//
// A recipe is checked whole before anything is read or computed: names, parameters, and that every stage finds what it needs
// and leaves nothing stale behind. All errors are listed at once, each with its place in the file.
//
// A recipe may extend another one, and any value may be a list to try: then the recipe is as many recipes as there are
// combinations, its points, each of them checked.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

/// Where something stands: in the recipe file or one that it extends, or in an option of the command line.
struct Place {
    int line = 0;     // from 1; 0: none in the file
    int column = 0;   // from 1, in characters
    int option = -1;  // which option it comes from, from 0; -1: a file
    int file = 0;     // 0: the recipe; others: what it extends

    friend bool operator==(const Place&, const Place&) = default;
};

struct RecipeStage {
    std::string id;  // unique in the recipe; the stage's name unless the recipe gives another or uses the stage twice
    const StageEntry* entry = nullptr;
    Parameters parameters;
    StageContract contract;  // with these parameters
    Place place;
    std::vector<std::string> written = {};  // names of parameters that the recipe or the command line gives, be it the default
};

/// A layout, the nonzeros that it takes, and its kernels.
struct RecipeLayout {
    std::optional<ShareId> share = {};  // none: all nonzeros, split or not
    const LayoutEntry* entry = nullptr;
    Parameters parameters;
    std::map<Backend, std::string> kernels;  // the recipe's choice for a backend; none: it is left to the runner
    Place place;
};

/// One of the values that a recipe gives a parameter in turn.
struct SweptValue {
    std::string name;      // "stage.metis_partition.parts"
    ParameterValue value;  // where it is a list of texts, its number among the values, from 1
};

/// Which combination of its swept values a recipe stands for.
struct SweepPoint {
    std::vector<SweptValue> values;  // empty: nothing is swept
    std::string label;               // "parts=132, slice_height=64"; another one for each point
    std::string folder;              // the same as the name of a folder
};

/// A recipe that passed every check which needs no matrix. It points into the catalogue, which must outlive it.
struct Recipe {
    std::string name;
    std::string source;                        // where the idea comes from; may be empty
    std::string prepare;                       // "cpu" or "gpu": whose work stages and layouts are; empty: nothing is asked for
    std::string device;                        // the model that it is for (find_device_model); empty: the GPU of the machine
    std::filesystem::path file;                // for messages
    std::vector<std::filesystem::path> bases;  // what it extends: places of file 1, 2, ...
    SweepPoint sweep;
    std::vector<std::string> notes;  // on options that change nothing here
    MatrixChoice matrix;
    Index node_size = 1;  // consecutive rows that belong to one mesh node
    std::vector<RecipeStage> stages;
    /// One that takes everything; or, of a hybrid, several, each for a share of the nonzeros, which together take each share
    /// exactly once.
    std::vector<RecipeLayout> layouts;
    bool side_by_side = false;             // of a hybrid: shares without a common row may run at the same time
    std::vector<KernelSource> sources;     // kernels that lie beside the recipe; not of a hybrid
    std::vector<KernelEntry> own_kernels;  // of the sources, one each

    [[nodiscard]] bool is_hybrid() const { return layouts.front().share.has_value(); }

    /// "recipes/x.toml:12", for messages.
    [[nodiscard]] std::string line_of(Place place) const;
};

/// "csr", of a hybrid "csr + sell".
[[nodiscard]] std::string name_of_layouts(const Recipe& recipe);

/// Options of the command line that replace what the recipe says. `matrix` is the same as the override matrix.path=FILE,
/// `member` as matrix.member=NAME, `generate` as matrix.generate=KIND and matrix.NAME=VALUE; errors name what was written.
///
/// An override is "stage.ID.PARAMETER=VALUE", "layout.PARAMETER=VALUE", "matrix.PARAMETER=VALUE", "kernel.BACKEND=NAME" or
/// "recipe.name=TEXT", of a hybrid "layout.SHARE.PARAMETER=VALUE" or "layout.SHARE.kernel.BACKEND=NAME", the value in TOML or a
/// bare word. Naming another matrix, which only one option may do, replaces all that
/// the recipe says of its own, node_size too; a path is then relative to the current folder.
struct RecipeChanges {
    std::optional<std::string> matrix = {};    // --matrix FILE
    std::string member = {};                   // --member NAME, of whichever file is read; empty: none
    std::optional<std::string> generate = {};  // --generate KIND:NAME=VALUE,...
    std::vector<std::string> overrides = {};   // --set WHAT=VALUE
    std::vector<std::string> sweeps = {};      // --sweep WHAT=VALUE,VALUE,... or WHAT=FIRST..LAST*FACTOR
};

/// An override or sweep that found nothing to change in a recipe.
struct UnmatchedChange {
    std::size_t number = 0;  // of the overrides, and after them of the sweeps
    std::string option;      // "--set layout.slice_height=64"
    std::string reason;
};

/// A recipe with all its points: one where nothing is swept. The last of several swept values changes fastest: those of the
/// matrix come first, then those of the stages in their order, of the layout, of the kernels.
struct LoadedRecipe {
    std::vector<Recipe> points;
    std::vector<UnmatchedChange> unmatched = {};  // empty where such a change is an error
};

enum class Unmatched { refused, noted };

/// Reads and checks a recipe file. Paths in it are relative to it. Throws RecipeError, whose text lists every error in the form
/// of the terminal: "error: ", place, what was found, what was expected; then the line and a caret. Every point is checked.
[[nodiscard]] LoadedRecipe load_points(const std::filesystem::path& file, const Catalogue& catalogue,
                                       const RecipeChanges& changes = {}, Unmatched unmatched = Unmatched::refused);

/// The same from a text; `file` need not exist: it is named in messages, and paths are relative to its folder.
[[nodiscard]] LoadedRecipe parse_points(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                        const RecipeChanges& changes = {}, Unmatched unmatched = Unmatched::refused);

/// The recipe for who has a use for one point only; several are an error.
[[nodiscard]] Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue,
                                 const RecipeChanges& changes = {});
[[nodiscard]] Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                  const RecipeChanges& changes = {});

/// Of recipes for which unmatched changes were noted: throws RecipeError where one matched in none of them.
void check_matched(const std::vector<LoadedRecipe>& recipes);

/// What can be checked only when the matrix is known. Throws InputError, naming the stages and their lines, where one needs a
/// square matrix and this is none, or where node_size does not divide the rows.
void check_against(const Recipe& recipe, Index rows, Index columns);

/// The recipe as it was run: overrides applied, every default filled in, the path of the matrix absolute. Parsing the text,
/// wherever it lies, gives the same recipe.
[[nodiscard]] std::string resolved_recipe(const Recipe& recipe);

}  // namespace workbench
