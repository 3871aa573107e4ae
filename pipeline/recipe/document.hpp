// A recipe as tables of settings with places, after the TOML parser and before anything is known about its words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/diagnostics.hpp"

namespace workbench {

struct TextItem {
    std::string text;
    Place place;
};

/// key = value. The value is plain, or a list of texts, or something that no recipe has a use for.
struct Setting {
    std::string key;
    Place key_place;
    Place value_place;
    std::optional<ParameterValue> value;         // plain
    std::optional<std::vector<TextItem>> texts;  // a list of texts
    std::string kind;                            // otherwise: "a list", "a table"
};

/// "found 16", "found a table": for messages.
[[nodiscard]] std::string found_text(const Setting& setting);

struct RecipeTable {
    std::string id;  // of a stage
    Place place;
    bool broken = false;            // an error has been said about it as a whole
    std::vector<Setting> settings;  // in the order of the file

    [[nodiscard]] const Setting* find(std::string_view key) const;

    /// The setting's value where it is a text.
    [[nodiscard]] const std::string* text(std::string_view key) const;

    /// Where the value of this key stands; the table itself where there is none.
    [[nodiscard]] Place place_of(std::string_view key) const;
};

/// One of [[layout]], and the table `kernel` in it.
struct LayoutTables {
    RecipeTable own;
    RecipeTable kernel;
};

struct RecipeDocument {
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

/// Parses the text. Adds an error for each table that no recipe has. Throws what Diagnostics::throw_if_any throws where the
/// text is not TOML.
[[nodiscard]] RecipeDocument read_document(std::string_view text, Diagnostics& diagnostics);

/// Gives every stage its id and checks that no two are alike: the one it asks for, or the stage's name, numbered where several
/// stages of one name ask for none.
void name_stages(RecipeDocument& document, Diagnostics& diagnostics);

/// Sets what the command line names, as if the recipe said so.
void apply_changes(RecipeDocument& document, const RecipeChanges& changes, Diagnostics& diagnostics);

/// A value in TOML: 3, "text", ["1 .", ". 1"]; anything else is a text as it stands. All its places are `place`.
[[nodiscard]] Setting read_value(std::string_view text, Place place);

}  // namespace workbench
