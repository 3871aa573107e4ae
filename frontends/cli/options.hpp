// Options shared by several commands, and what follows from them. The variable of an option must live until the command line is
// parsed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"
#include "pipeline/keep/keep_folder.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "viz/pdf_canvas.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace workbench {

/// The files that read_matrix takes, for help texts.
inline constexpr const char* readable_files = ".mtx, .rb, .graph (also .gz, .xz, .zst, .tar), .npz, .mat, .h5";

/// The value of --json that means standard output.
inline constexpr const char* standard_output = "-";

/// An option that takes one of these words; a non-empty `value` is its default.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value, std::vector<std::string> words,
                        const std::string& help);

/// --backend LIST.
void add_backends(CLI::App& command, std::vector<std::string>& names, const std::string& help);

/// "f32" or "f64".
[[nodiscard]] inline Precision precision_named(const std::string& word) {
    return word == "f32" ? Precision::f32 : Precision::f64;
}

/// --member and --max-memory, which takes effect by itself.
void add_read_options(CLI::App& command, std::string& member);

/// --max-memory, for a command that generates its matrix.
void add_memory_option(CLI::App& command);

/// --force.
void add_force_option(CLI::App& command, bool& force);

/// --column, --font and --palette. Returns --column.
CLI::Option* add_paper_options(CLI::App& command, PaperColumn& column, const std::string& description);

/// The description of --column for plots.
inline constexpr const char* plots_in_column =
    "Draw the plots for a column of a paper, of this width (in, cm, mm or pt), as PDF: without title, subtitle and foot, the "
    "legend "
    "above the plot, text of 7.5 pt";

/// Throws RecipeError if the file exists, or the folder and it is not empty, unless `force`. A file that the same command line
/// has written, and that has not changed since, may be written again.
void check_new(const std::filesystem::path& output, bool force);

/// Remembers in the files of check_new, as an attribute of the file system, that this command has written them.
void mark_new_files();

/// Checks a file for results, such as `--json FILE`, which replaces that of an earlier command: throws RecipeError if it is
/// something else, MachineError if it cannot be written. An empty name and standard output are fine.
void check_results_file(const std::string& option, const std::string& file);

/// The lines of such a file; none if there is no file.
[[nodiscard]] std::vector<std::string> lines_of(const std::filesystem::path& file);

/// --keep.
void add_keep_option(CLI::App& command, std::string& folder);

/// The folder of --keep; none if it was not given. Throws MachineError if it cannot be created.
[[nodiscard]] std::optional<KeepFolder> keep_folder(const std::string& folder, const Device& host);

[[nodiscard]] inline KeepFolder* pointer_to(std::optional<KeepFolder>& folder) { return folder ? &*folder : nullptr; }

/// The default of --prepare: as the recipes say.
inline const std::string as_recipes_ask = "recipe";

/// --prepare.
void add_prepare_option(CLI::App& command, std::string& where);

/// Applies --prepare to the recipes. Throws MachineError if one is to be prepared on a GPU and there is none.
void set_preparation(const std::string& where, std::span<Recipe> recipes);

/// Throws RecipeError if the number is infinite or not a number.
void check_finite(const std::string& option, double value);

}  // namespace workbench
