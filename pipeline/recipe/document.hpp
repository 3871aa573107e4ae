// A recipe as tables of settings with places, after the TOML parser and before anything is known about its words.
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

struct TextItem {
    std::string text;
    Place place;
};

struct RecipeTable;

/// key = value. The value is plain, a list of texts, a list of tables, a sweep (values to be tried in turn), or of a kind
/// that no recipe uses.
struct Setting {
    std::string key;
    Place key_place;
    Place value_place;
    std::optional<ParameterValue> value;         // plain
    std::optional<std::vector<TextItem>> texts;  // a list of texts
    std::vector<RecipeTable> tables;             // a list of tables
    std::string kind;                            // otherwise: "a list", "a table", "a sweep"
    bool swept = false;
    std::vector<Setting> sweep;  // its values
    std::string sweep_problem;   // what is wrong with them; empty: nothing

    /// Does this to the places of keys, values and what is in them.
    void for_each_place(const std::function<void(Place&)>& act);
};

/// "found 16", "found a table": for messages.
[[nodiscard]] std::string found_text(const Setting& setting);

struct RecipeTable {
    std::string id;  // of a stage; empty before name_stages
    Place place;
    bool broken = false;            // an error about the whole table is reported
    std::vector<Setting> settings;  // in the order of the file

    [[nodiscard]] const Setting* find(std::string_view key) const;

    /// The setting's value where it is a text.
    [[nodiscard]] const std::string* text(std::string_view key) const;

    /// Where the value of this key stands; the table itself where there is none.
    [[nodiscard]] Place place_of(std::string_view key) const;

    /// In place of a setting of the same key.
    void set(const Setting& setting);

    /// Takes a setting out; none where it is not there.
    std::optional<Setting> take(std::string_view key);
};

/// One of [[layout]], and the table `kernel` in it.
struct LayoutTables {
    RecipeTable own;
    RecipeTable kernel;
};

struct RecipeDocument {
    std::vector<std::filesystem::path> files;  // that places are in: the recipe, and what it extends
    RecipeTable recipe;
    RecipeTable matrix;
    std::vector<RecipeTable> stages;
    RecipeTable layout;
    RecipeTable kernel;
    std::vector<LayoutTables> layouts;  // a list of them, instead of one layout and kernel

    /// The table of this name; null for "stage", of which there are many, and where there is none.
    [[nodiscard]] RecipeTable* find(std::string_view name);
};

/// recipe, matrix, stage, layout, kernel.
[[nodiscard]] const std::vector<std::string>& table_names();

/// Parses a file that the diagnostics know. Adds an error for each table that no recipe has. Throws what
/// Diagnostics::throw_if_any throws where the text is not TOML.
[[nodiscard]] RecipeDocument read_document(int file, Diagnostics& diagnostics);

/// The recipe and all that it extends, as one document with named stages. The diagnostics know the recipe only.
[[nodiscard]] RecipeDocument read_with_bases(const std::filesystem::path& recipe, Diagnostics& diagnostics);

/// "32..1024*2", "8..64+8" or "1..4": whole numbers to try, as the values of a sweep; what is wrong with the text otherwise.
void read_range(std::string_view text, Place place, Setting& setting);

/// Looks this like a range, be it right or wrong?
[[nodiscard]] bool is_range(std::string_view text);

/// The text of a recipe file. Throws RecipeError where it is none.
[[nodiscard]] std::string read_recipe_file(const std::filesystem::path& file);

/// The tables of any TOML file by name, [[lists]] of tables left out. Adds an error for all that is no table. Throws as above.
[[nodiscard]] std::vector<std::pair<std::string, RecipeTable>> read_tables(int file, Diagnostics& diagnostics);

/// Gives every stage that has none its id, and checks that no two are alike: the one it asks for, or the stage's name, numbered
/// where several stages of one name ask for none.
void name_stages(RecipeDocument& document, Diagnostics& diagnostics);

/// "; did you mean ...?" and the like, for an id that no stage has. `stages`: those that have one.
[[nodiscard]] std::string expected_stage(const std::string& id, const std::vector<RecipeTable>& stages, Place from,
                                         const Diagnostics& diagnostics);

/// Sets what the command line names, as if the recipe said so; not what is known to find nothing to change.
void apply_changes(RecipeDocument& document, const RecipeChanges& changes, const std::vector<UnmatchedChange>& without,
                   Diagnostics& diagnostics);

/// A value in TOML: 3, "text", ["1 .", ". 1"]; anything else is a text as it stands. All its places are `place`.
[[nodiscard]] Setting read_value(std::string_view text, Place place);

}  // namespace workbench
