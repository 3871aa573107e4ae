// The recipe language: a TOML file that names a matrix, a chain of stages, a layout and kernels.
//
// A recipe is checked whole before anything is read or computed: names, parameters, and that every stage finds what it needs
// and leaves nothing stale behind. All errors are listed at once, each with its place in the file.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/input/generators.hpp"

namespace workbench {

/// Where something stands: in the recipe file, or in an option that overrides it.
struct Place {
    int line = 0;     // from 1; 0: no place of its own in the file
    int column = 0;   // from 1, in characters
    int option = -1;  // which override it comes from, from 0; -1: the file

    friend bool operator==(const Place&, const Place&) = default;
};

/// A file to read; absolute, or relative to the current folder.
struct MatrixFile {
    std::filesystem::path path;
    std::string member;  // of an archive; empty: the only matrix in it, or no archive
};

/// A matrix written out in the recipe. csr_from_rows takes it without an error.
struct InlineMatrix {
    std::vector<std::string> rows;
};

struct GeneratedMatrix {
    const GeneratorEntry* generator = nullptr;
    Parameters parameters;
    std::string where;  // the place that named it, for messages
};

struct MatrixSource {
    std::variant<std::monostate, MatrixFile, InlineMatrix, GeneratedMatrix> from;  // monostate: the recipe names no matrix
    Index node_size = 1;  // consecutive rows that belong to one mesh node
};

struct RecipeStage {
    std::string id;  // unique in the recipe; the stage's name unless the recipe gives another or uses the stage twice
    const StageEntry* entry = nullptr;
    Parameters parameters;
    StageContract contract;  // with these parameters
    Place place;
};

struct RecipeLayout {
    const LayoutEntry* entry = nullptr;
    Parameters parameters;
    Place place;
};

/// A recipe that passed every check which needs no matrix. It points into the catalogue and the list of generators, which must
/// outlive it.
struct Recipe {
    std::string name;
    std::string source;          // where the idea comes from; may be empty
    std::string device;          // the model that it is for (find_device_model); empty: the GPU of the machine
    std::filesystem::path file;  // for messages
    MatrixSource matrix;
    std::vector<RecipeStage> stages;
    RecipeLayout layout;
    std::map<Backend, std::string> kernels;  // the recipe's choice for a backend; none: it is left to the runner
};

/// Reads and checks a recipe file. Paths in it are relative to it. An override is "stage.ID.PARAMETER=VALUE",
/// "layout.PARAMETER=VALUE", "matrix.PARAMETER=VALUE", "kernel.BACKEND=NAME" or "recipe.name=TEXT", the value in TOML or a bare
/// word; naming another matrix replaces all that the recipe says of its own, and a path is then relative to the current folder.
/// Throws RecipeError, whose text lists every error in the form of the terminal: "error: ", place, what was found, what was
/// expected; then the line and a caret.
[[nodiscard]] Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue,
                                 std::span<const std::string> overrides = {});

/// The same from a text; `file` need not exist: it is named in messages, and paths are relative to its folder.
[[nodiscard]] Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                  std::span<const std::string> overrides = {});

/// The matrix that a command line describes by a generator's name and settings NAME=VALUE; with `takes_node_size` node_size is
/// one more of them. `option` is what stands before both on the command line, for messages: "--generate ". Throws RecipeError,
/// which lists every error.
[[nodiscard]] MatrixSource generated_matrix(const std::string& generator, std::span<const std::string> settings,
                                            const std::string& option, bool takes_node_size);

/// What can be checked only when the matrix is known. Throws InputError, naming the stages and their lines, where one needs a
/// square matrix and this is none, or where node_size does not divide the rows.
void check_against(const Recipe& recipe, Index rows, Index columns);

/// The recipe as it was run: overrides applied, every default filled in, the path of the matrix absolute. Parsing the text,
/// wherever it lies, gives the same recipe.
[[nodiscard]] std::string resolved_recipe(const Recipe& recipe);

}  // namespace workbench
