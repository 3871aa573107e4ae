// A recipe as tables of settings with their places: parsed TOML whose names are not checked yet.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/recipe/diagnostics.hpp"

namespace workbench {

inline constexpr std::size_t longest_recipe = std::size_t{1} << 20;  // bytes

struct TextItem {
    std::string text;
    RecipePlace place;
};

struct RecipeTable;

/// key = value. The value is plain, a list of strings or integers, a list of tables, a sweep (values to try), a reference to
/// another value, or of a kind that no recipe uses.
struct Setting {
    std::string key;
    RecipePlace key_place;
    RecipePlace value_place;
    std::optional<ParameterValue> value;         // plain
    std::optional<std::vector<TextItem>> texts;  // a list of strings
    std::optional<std::string> list;             // a list of integers and strings, joined: "4, 16, 64"
    std::vector<RecipeTable> tables;             // a list of tables
    std::vector<RecipeTable> table;              // a table: itself alone
    std::vector<Setting> items;                  // of a list, unless all are strings
    std::string kind;                            // otherwise: "a list", "a table", "a sweep", "a reference"
    std::string same_as;                         // a reference: the name of the value, "stage.length_groups.slice_height"
    bool swept = false;
    std::vector<Setting> sweep;  // the values to try
    std::string sweep_problem;   // the error in them; empty if there is none

    /// The plain value if it has this type, otherwise null.
    template <typename Type>
    [[nodiscard]] const Type* as() const {
        return value ? std::get_if<Type>(&*value) : nullptr;
    }

    /// Calls act for the places of key and value, including nested ones.
    void for_each_place(const std::function<void(RecipePlace&)>& act);

    /// Changes the setting into a sweep without values.
    void begin_sweep() {
        swept = true;
        kind = "a sweep";
    }
};

/// For messages: "found 16", "found a table".
[[nodiscard]] std::string found_text(const Setting& setting);

struct RecipeTable {
    std::string id;  // of a stage; assigned by name_stages
    RecipePlace place;
    bool broken = false;            // an error about the whole table has been reported
    std::vector<Setting> settings;  // in the order of the file

    [[nodiscard]] const Setting* find(std::string_view key) const;

    /// The setting's value if it is a string, otherwise null.
    [[nodiscard]] const std::string* text(std::string_view key) const;

    /// The place of the value of this key, or of the table if it has no such key.
    [[nodiscard]] RecipePlace place_of(std::string_view key) const;

    /// Adds a setting, or replaces the one with the same key.
    void set(const Setting& setting);

    /// Removes a setting and returns it.
    std::optional<Setting> take(std::string_view key);
};

/// One [[layout]] with its table `kernel`.
struct LayoutTables {
    RecipeTable own;
    RecipeTable kernel;
};

struct RecipeDocument {
    std::vector<std::filesystem::path> files;     // by RecipePlace::file: the recipe, then those that it extends
    std::optional<std::filesystem::path> within;  // files that it names must be in this folder, if there is one
    RecipeTable recipe;
    RecipeTable matrix;
    std::vector<RecipeTable> stages;
    RecipeTable layout;
    RecipeTable kernel;
    std::vector<LayoutTables> layouts;  // [[layout]], instead of one layout and kernel

    /// The table of this name; null if there is none, and for "stage", which is a list.
    [[nodiscard]] RecipeTable* find(std::string_view name);
};

/// recipe, matrix, stage, layout, kernel.
[[nodiscard]] const std::vector<std::string>& table_names();

/// Parses a file of the diagnostics. Adds an error for each unknown table. Throws RecipeError if the text is not TOML, longer
/// than longest_recipe, or a space.
[[nodiscard]] RecipeDocument read_document(int file, Diagnostics& diagnostics);

/// Like read_document for file 0, a space: [space] is in the place of [recipe], and stages have no names yet.
[[nodiscard]] RecipeDocument read_space_document(Diagnostics& diagnostics);

/// True if the text is a TOML file with a table [space].
[[nodiscard]] bool has_space_table(std::string_view text);

/// Merges the recipe, file 0 of the diagnostics, with the recipes that it extends, and names the stages. within: the folder
/// that must contain all of these, if there is one.
[[nodiscard]] RecipeDocument read_with_bases(const std::filesystem::path& recipe,
                                             const std::optional<std::filesystem::path>& within, Diagnostics& diagnostics);

/// True if the file is in the folder, after links are followed.
[[nodiscard]] bool is_in_folder(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Reads a range of integers to try, "32..1024*2", "8..64+8" or "1..4", into a sweep, or sets its sweep_problem.
void read_range(std::string_view text, RecipePlace place, Setting& setting);

/// True if the text has the form of a range, valid or not.
[[nodiscard]] bool is_range(std::string_view text);

/// The text of a recipe or suite, which messages call `what`. Throws RecipeError if it cannot be read.
[[nodiscard]] std::string read_recipe_file(const std::filesystem::path& file, std::string_view what = "recipe");

/// The tables of a TOML file by name. Adds an error for everything else. Throws as read_document does.
[[nodiscard]] std::vector<std::pair<std::string, RecipeTable>> read_tables(int file, Diagnostics& diagnostics);

/// Assigns an id to every stage without one: the one that it requests, or its `use`, numbered if several stages have the same
/// `use` and request none. Adds an error for duplicate ids.
void name_stages(RecipeDocument& document, Diagnostics& diagnostics);

/// Gives a stage with `program` or `source` its `use` and, if it has none, an id, the name of the file.
void use_of_code(RecipeTable& stage);

/// "; did you mean ...?" or the like, for an id that none of the stages has.
[[nodiscard]] std::string expected_stage(const std::string& id, const std::vector<RecipeTable>& stages, RecipePlace from,
                                         const Diagnostics& diagnostics);

/// Applies the changes of the command line, except those in `without`, as if the recipe contained them.
void apply_changes(RecipeDocument& document, const RecipeChanges& changes, const std::vector<UnmatchedChange>& without,
                   Diagnostics& diagnostics);

/// Returns true if the recipe has this name or file name, or if the name is empty.
[[nodiscard]] bool names_recipe(const RecipeDocument& document, std::string_view name);

/// The name of the recipe that an override or sweep changes, "RECIPE:WHAT=VALUE"; empty if it names none.
[[nodiscard]] std::string recipe_of_change(std::string_view text);

/// Reads a TOML value: 3, "text", ["1 .", ". 1"]. Anything else is taken as a string. All places are `place`.
[[nodiscard]] Setting read_value(std::string_view text, RecipePlace place);

}  // namespace workbench
