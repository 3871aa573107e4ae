// The recipe language: a TOML file that selects a matrix, a chain of stages, a layout and kernels.
//
// A recipe is checked completely before anything is read or computed: names, parameters, and that every stage finds what it
// needs and leaves no stale cuts or shares behind. All errors are reported at once, each with its place in the file.
//
// A recipe may extend another one. Any value may be a list of values to try; the recipe then has one point for each
// combination.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

/// A place in the recipe file, in a file that it extends, or in a command-line option.
struct RecipePlace {
    int line = 0;     // from 1; 0: the whole file
    int column = 0;   // from 1, in characters
    int option = -1;  // number of the option, from 0; -1: a place in a file
    int file = 0;     // 0: the recipe; others: files that it extends

    friend bool operator==(const RecipePlace&, const RecipePlace&) = default;
};

/// An error of a recipe, for programs.
struct LocatedProblem {
    std::string file;  // as messages name it; for an option as the user wrote it: "--set layout.x=1"
    int line = 0;      // from 1; 0: the whole file, or an option
    int column = 0;    // from 1, in characters
    std::string message;
};

/// All errors of a recipe. The text is what the terminal shows.
struct RecipeErrors : RecipeError {
    RecipeErrors(const std::string& what, std::vector<LocatedProblem> all) : RecipeError(what), problems(std::move(all)) {}
    std::vector<LocatedProblem> problems;
};

struct RecipeStage {
    std::string id;  // unique in the recipe; by default the name of the stage
    const StageEntry* entry = nullptr;
    Parameters parameters;
    StageContract contract;  // with these parameters
    RecipePlace place;
    std::vector<std::string> written = {};  // keys that the recipe or the command line sets
};

/// A layout, the nonzeros that it stores, and its kernels.
struct RecipeLayout {
    std::optional<ShareId> share = {};  // if none, all nonzeros
    const LayoutEntry* entry = nullptr;
    Parameters parameters;
    std::map<Backend, std::string> kernels;  // chosen by the recipe; the runner chooses for other backends
    RecipePlace place;
    std::vector<KernelSource> sources = {};     // kernels in files next to the recipe
    std::vector<KernelEntry> own_kernels = {};  // one per source
};

/// Code beside the recipe that a run executes.
struct RecipeCode {
    std::string what;  // "stage 'my_order': program python3 /home/me/my_order.py"
    RecipePlace place;
};

/// The value of a swept parameter at a point.
struct SweptValue {
    std::string name;      // "stage.metis_partition.parts"
    ParameterValue value;  // for a list of strings its number among the values, from 1
};

/// A combination of swept values.
struct SweepPoint {
    std::vector<SweptValue> values;  // empty: nothing is swept
    std::string label;               // "parts=132, slice_height=64"; unique
    std::string folder;              // the label as a folder name
};

/// A recipe that passed all checks that need no matrix. It points into the catalogue, which must outlive it.
struct Recipe {
    std::string name;
    std::string source;   // source of the idea; may be empty
    std::string prepare;  // preprocessing on "cpu" or "gpu"; empty: not specified
    std::string device;   // device model (find_device_model); empty: the GPU of the machine
    [[nodiscard]] bool prepares_on_gpu() const { return prepare == "gpu"; }
    std::filesystem::path file;                // for messages
    std::vector<std::filesystem::path> bases;  // the recipes that it extends: RecipePlace::file 1, 2, ...
    SweepPoint sweep;
    std::vector<std::string> notes;  // options that change nothing in this recipe
    MatrixChoice matrix;
    Index node_size = 1;  // consecutive rows that belong to one mesh node
    std::vector<RecipeStage> stages;
    /// One layout for all nonzeros; or, in a hybrid, several that together store each share exactly once.
    std::vector<RecipeLayout> layouts;
    bool side_by_side = false;     // in a hybrid: shares without a common row may run concurrently
    std::vector<RecipeCode> code;  // of stages, layouts and kernels

    [[nodiscard]] bool is_hybrid() const { return layouts.front().share.has_value(); }

    /// "recipes/x.toml:12", for messages.
    [[nodiscard]] std::string line_of(RecipePlace place) const;
};

/// "csr", or "csr + sell" for a hybrid.
[[nodiscard]] std::string name_of_layouts(const Recipe& recipe);

/// Command-line options that change a recipe. `matrix` is short for the override matrix.path=FILE, `member` for
/// matrix.member=NAME, `generate` for matrix.generate=KIND and matrix.NAME=VALUE; messages show the option that was given.
///
/// "RECIPE:WHAT=VALUE" changes only the recipe of this name or file name. "WHAT+WHAT=VALUE,VALUE" sweeps several parameters
/// together.
///
/// An override is "stage.ID.PARAMETER=VALUE", "layout.PARAMETER=VALUE", "matrix.PARAMETER=VALUE", "kernel.BACKEND=NAME" or
/// "recipe.name=TEXT"; in a hybrid "layout.SHARE.PARAMETER=VALUE" or "layout.SHARE.kernel.BACKEND=NAME". The value is TOML or a
/// bare word. At most one option may select a matrix; it replaces the whole table [matrix], including node_size, and its path
/// is relative to the current folder.
struct RecipeChanges {
    std::optional<std::string> matrix = {};    // --matrix FILE
    std::string member = {};                   // --member NAME; empty: not given
    std::optional<std::string> generate = {};  // --generate KIND:NAME=VALUE,...
    std::vector<std::string> overrides = {};   // --set WHAT=VALUE
    std::vector<std::string> sweeps = {};      // --sweep WHAT=VALUE,VALUE,... or WHAT=FIRST..LAST*FACTOR

    /// For recipes from others: `extends` and stages read only files in this folder, after links are followed. None: any file.
    std::optional<std::filesystem::path> bases_within = {};

    /// For recipes from others: why code beside the recipe is an error ("of --no-sources"); empty: it is none.
    std::string_view no_code_because = {};

    /// Formats beside the recipe are neither compiled nor loaded (`check` without --sources). What they declare is not checked,
    /// and the recipe cannot run.
    bool unread_formats = false;
};

/// An override or sweep that found nothing to change in a recipe.
struct UnmatchedChange {
    std::size_t number = 0;  // counts overrides, then sweeps
    std::string option;      // "--set layout.slice_height=64"
    std::string reason;
    bool for_another_recipe = false;  // it names the recipe that it changes
};

/// All points of a recipe, one if nothing is swept. The last swept value changes fastest; the order is matrix, stages, layout,
/// kernels.
struct LoadedRecipe {
    std::vector<Recipe> points;
    std::vector<UnmatchedChange> unmatched = {};  // empty if such a change is an error
};

enum class Unmatched { refused, noted };

/// Reads a recipe file and checks every point. Paths in it are relative to it. Throws RecipeError with all errors as the
/// terminal shows them: "error: ", place, what was found, what was expected; then the line and a caret.
[[nodiscard]] LoadedRecipe load_points(const std::filesystem::path& file, const Catalogue& catalogue,
                                       const RecipeChanges& changes = {}, Unmatched unmatched = Unmatched::refused);

/// Like load_points, for a text. `file` need not exist: messages name it, and paths are relative to its folder.
[[nodiscard]] LoadedRecipe parse_points(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                        const RecipeChanges& changes = {}, Unmatched unmatched = Unmatched::refused);

/// Like load_points and parse_points for a recipe with a single point; several are an error.
[[nodiscard]] Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue,
                                 const RecipeChanges& changes = {});
[[nodiscard]] Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                  const RecipeChanges& changes = {});

/// Throws RecipeError if a change is unmatched in all of these recipes, which were loaded with Unmatched::noted.
void check_matched(const std::vector<LoadedRecipe>& recipes);

/// Checks that depend on the matrix. Throws InputError with the stages and their lines if one needs a square matrix and this is
/// none, or if node_size does not divide the number of rows.
void check_against(const Recipe& recipe, Index rows, Index columns);

enum class FileNames { absolute, from_here };

/// The recipe as it was run, with changes applied, all defaults filled in, and paths that are absolute or as seen from the
/// current folder (seen_from_here). Parsing the text, of a file in the current folder, gives the same recipe.
[[nodiscard]] std::string resolved_recipe(const Recipe& recipe, FileNames names = FileNames::absolute);

// ---- Recipes whose layouts round values.

/// The coarsest rounding of its layouts.
[[nodiscard]] Rounding rounding_of(const Recipe& recipe);
[[nodiscard]] Rounding rounding_of(const Recipe& recipe, Precision precision);

/// Marks the name if a layout rounds values, and removes such a mark otherwise.
void mark_rounding(Recipe& recipe);

/// The same recipe with values in full where they would be rounded.
[[nodiscard]] Recipe in_full(Recipe recipe);

}  // namespace workbench
