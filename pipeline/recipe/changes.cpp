// Command-line options that change a recipe: --set, --sweep, --matrix, --member, --generate.
#include <fmt/core.h>

#include <algorithm>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

struct Override {
    std::vector<std::string> path;  // the words of WHAT, separated by dots
    std::string_view value;         // after '='
    Setting setting;                // its key is the last word
};

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> words;
    for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    words.emplace_back(text);
    return words;
}

/// The parts of an option [RECIPE:]WHAT[+WHAT...]=VALUE.
struct Change {
    std::string recipe = {};                   // empty: any recipe
    std::vector<std::string_view> whats = {};  // at least one
    std::string_view value = {};
};

/// None without '='.
std::optional<Change> read_change(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    Change change{.value = text.substr(equals + 1)};
    std::string_view what = text.substr(0, equals);
    if (const std::size_t colon = what.find(':'); colon != std::string_view::npos) {
        change.recipe = what.substr(0, colon);
        what.remove_prefix(colon + 1);
    }
    for (std::size_t end = what.find('+'); end != std::string_view::npos; end = what.find('+')) {
        change.whats.push_back(what.substr(0, end));
        what.remove_prefix(end + 1);
    }
    change.whats.push_back(what);
    return change;
}

/// None if WHAT does not have the form of a setting.
std::optional<Override> read_path(std::string_view what, std::string_view value, RecipePlace place) {
    Override override{split(what, '.'), value, {}};
    override.setting.key = override.path.back();
    override.setting.key_place = override.setting.value_place = place;
    const std::size_t fewest = override.path.front() == "stage" ? 3 : 2;
    const std::size_t most = override.path.front() == "layout" ? 4 : fewest;  // layout.SHARE.kernel.BACKEND
    const bool complete = std::ranges::count(override.path, "") == 0;
    const bool fits = override.path.size() >= fewest && override.path.size() <= most;
    return complete && fits ? std::optional(std::move(override)) : std::nullopt;
}

/// A string that is not read as TOML.
Setting text_setting(const std::string& key, const std::string& text, RecipePlace place) {
    Setting setting;
    setting.key = key;
    setting.key_place = setting.value_place = place;
    setting.value = text;
    return setting;
}

Setting read_value_of(const Override& override, std::string_view text, RecipePlace place) {
    const std::string& key = override.setting.key;
    Setting setting = read_value(text, place);
    setting.key = key;
    const bool is_name = override.path.front() == "matrix" && (key == "path" || key == "member");  // a file may be named 2024
    return is_name && setting.as<std::string>() == nullptr && !setting.swept ? text_setting(key, std::string(text), place)
                                                                             : setting;
}

/// Splits at commas outside quotes and brackets.
std::vector<std::string> split_values(std::string_view text) {
    std::vector<std::string> values(1);
    char quote = '\0';
    int depth = 0;
    for (const char letter : text) {
        if (quote == '\0' && (letter == '"' || letter == '\'')) {
            quote = letter;
        } else if (letter == quote) {
            quote = '\0';
        }
        if (quote == '\0' && (letter == '[' || letter == '{')) ++depth;
        if (quote == '\0' && (letter == ']' || letter == '}')) --depth;
        if (letter == ',' && quote == '\0' && depth == 0) {
            values.emplace_back();
        } else {
            values.back() += letter;
        }
    }
    return values;
}

RecipeTable* find_stage(RecipeDocument& document, const std::string& id, RecipePlace place, Diagnostics& diagnostics) {
    const auto stage = std::ranges::find(document.stages, id, &RecipeTable::id);
    if (stage != document.stages.end()) return &*stage;
    const std::string expected = expected_stage(id, document.stages, {}, diagnostics);
    const bool is_use = expected.starts_with("; expected the id");
    diagnostics.add_unmatched(place, "{} '{}'{}", is_use ? "no stage has the id" : "unknown stage", printable(id, 40),
                              expected);
    return nullptr;
}

/// An option that selects a matrix replaces the whole table of the recipe. Only one option may select a matrix.
void set_in_matrix(RecipeTable& matrix, const Setting& setting, Diagnostics& diagnostics) {
    if (names_matrix(setting)) {
        std::erase_if(matrix.settings, [](const Setting& other) { return other.key_place.option < 0; });
        const auto other = std::ranges::find_if(matrix.settings, names_matrix);
        if (other != matrix.settings.end()) {
            diagnostics.add(setting.key_place, "selects a second matrix, after {}; expected only one of them",
                            diagnostics.where(other->key_place));
            return;
        }
    }
    matrix.set(setting);
}

/// Reads "KIND:NAME=VALUE,..." and `more`, each NAME=VALUE. `option` precedes them on the command line: "--generate ".
void set_generator(RecipeTable& matrix, std::string_view text, std::span<const std::string> more, const std::string& option,
                   Diagnostics& diagnostics) {
    const std::size_t colon = text.find(':');
    const std::string kind(text.substr(0, colon));
    std::vector<std::string> words;
    if (colon != std::string_view::npos) words = split(text.substr(colon + 1), ',');
    words.insert(words.end(), more.begin(), more.end());

    const RecipePlace place_of_kind = diagnostics.add_option(option + kind);
    set_in_matrix(matrix, text_setting("generate", kind, place_of_kind), diagnostics);
    for (const std::string& word : words) {
        const RecipePlace place = diagnostics.add_option(option + word);
        const std::size_t equals = word.find('=');
        Setting setting =
            equals == std::string::npos ? Setting{} : read_value(std::string_view(word).substr(equals + 1), place);
        setting.key = word.substr(0, equals);
        setting.key_place = place;
        if (equals == std::string::npos || setting.key.empty()) {
            diagnostics.add(place_of_kind, "found '{}'; expected NAME=VALUE", printable(word, 40));
        } else if (matrix.find(setting.key) != nullptr && matrix.find(setting.key)->key_place.option >= 0) {
            diagnostics.add(place, "'{}' is given twice; expected it once", printable(setting.key, 40));
        } else {
            set_in_matrix(matrix, setting, diagnostics);
        }
    }
}

/// The table among several layouts that "layout.SHARE.PARAMETER" or "layout.SHARE.kernel.BACKEND" refers to.
RecipeTable* find_layout(RecipeDocument& document, const std::vector<std::string>& path, RecipePlace place,
                         Diagnostics& diagnostics) {
    std::vector<std::string> shares;
    for (LayoutTables& tables : document.layouts) {
        const std::string* share = tables.own.text("share");
        if (share == nullptr) continue;
        shares.push_back(*share);
        if (path.size() < 3 || path[1] != *share) continue;
        if (path.size() == 3 && path[2] != "kernel") return &tables.own;
        if (path.size() == 4 && path[2] == "kernel") return &tables.kernel;
    }
    if (path.size() < 3 || std::ranges::count(shares, path[1]) > 0) {
        diagnostics.add_unmatched(place,
                                  "the recipe has several layouts; expected layout.SHARE.PARAMETER=VALUE or "
                                  "layout.SHARE.kernel.BACKEND=NAME with a SHARE of {}",
                                  join(shares));
    } else {
        diagnostics.add_unmatched(place, "no layout has share '{}'{}", printable(path[1], 40),
                                  expected_one_of(path[1], shares));
    }
    return nullptr;
}

/// The table that a path refers to; null after an error.
RecipeTable* find_table(RecipeDocument& document, const std::vector<std::string>& path, RecipePlace place,
                        Diagnostics& diagnostics) {
    const std::string& name = path.front();
    if (name == "stage") return find_stage(document, path[1], place, diagnostics);
    const bool several = !document.layouts.empty();
    if (name == "kernel" && path[1] == "side_by_side") {
        if (several) return &document.kernel;
        diagnostics.add_unmatched(place, "the recipe has one layout; expected several for side_by_side");
        return nullptr;
    }
    if (several && (name == "layout" || name == "kernel")) return find_layout(document, path, place, diagnostics);
    if (path.size() == 2) return document.find(name);
    diagnostics.add_unmatched(place, "the recipe has one layout; expected layout.PARAMETER=VALUE");
    return nullptr;
}

/// True, with an error, if another --set or --sweep has changed the same setting.
bool contradicts(const RecipeTable& table, const Setting& setting, Diagnostics& diagnostics) {
    const Setting* before = table.find(setting.key);
    if (before == nullptr || before->key_place.option < 0) return false;
    const std::string other = diagnostics.where(before->key_place);
    if (!other.starts_with("--set ") && !other.starts_with("--sweep ")) return false;
    diagnostics.add(setting.key_place, "changes the same setting as {}; expected one of them", other);
    return true;
}

/// Applies the setting as if the recipe contained it.
void apply_setting(RecipeDocument& document, const Override& override, Diagnostics& diagnostics) {
    const std::vector<std::string>& tables = table_names();
    const std::string& name = override.path.front();
    const RecipePlace place = override.setting.key_place;
    if (std::ranges::count(tables, name) == 0) {
        diagnostics.add(place, "unknown table '{}'{}", printable(name, 40), expected_one_of(name, tables));
    } else if (name == "stage" && override.setting.key == "id") {
        diagnostics.add(place, "the id of a stage cannot be set; expected a parameter");
    } else if (name == "matrix") {
        if (names_matrix(override.setting) || !contradicts(document.matrix, override.setting, diagnostics)) {
            set_in_matrix(document.matrix, override.setting, diagnostics);
        }
    } else if (RecipeTable* table = find_table(document, override.path, place, diagnostics)) {
        if (!contradicts(*table, override.setting, diagnostics)) table->set(override.setting);
    }
}

/// Returns false, with an error, if the change names another recipe.
bool check_recipe(const RecipeDocument& document, const Change& change, RecipePlace place, Diagnostics& diagnostics) {
    if (names_recipe(document, change.recipe)) return true;
    diagnostics.add_unmatched(place, "this recipe is '{}'; expected that name, or none, before the colon",
                              printable(document.files.front().stem().string(), 80));
    return false;
}

void apply_override(RecipeDocument& document, const std::string& text, std::size_t number, Diagnostics& diagnostics) {
    const RecipePlace place = diagnostics.add_option("--set " + text, number);
    const std::optional<Change> change = read_change(text);
    if (change && !check_recipe(document, *change, place, diagnostics)) return;
    auto override = change && change->whats.size() == 1 ? read_path(change->whats.front(), change->value, place) : std::nullopt;
    if (!override) {
        diagnostics.add(place,
                        "expected stage.ID.PARAMETER=VALUE, layout.PARAMETER=VALUE, matrix.PARAMETER=VALUE, "
                        "kernel.BACKEND=NAME or recipe.name=TEXT");
        return;
    }
    override->setting = read_value_of(*override, override->value, place);
    apply_setting(document, *override, diagnostics);
}

void apply_sweep(RecipeDocument& document, const std::string& text, std::size_t number, Diagnostics& diagnostics) {
    const RecipePlace place = diagnostics.add_option("--sweep " + text, number);
    const std::optional<Change> change = read_change(text);
    if (change && !check_recipe(document, *change, place, diagnostics)) return;
    const std::vector<std::string> values = change ? split_values(change->value) : std::vector<std::string>();
    std::vector<std::optional<Override>> overrides;
    if (change) {
        for (const std::string_view what : change->whats) overrides.push_back(read_path(what, change->value, place));
    }
    if (!change || !std::ranges::all_of(overrides, &std::optional<Override>::has_value) || std::ranges::count(values, "") > 0) {
        diagnostics.add(place,
                        "expected WHAT=VALUE,VALUE,... or WHAT=FIRST..LAST*FACTOR, as in "
                        "stage.metis_partition.parts=132,264 or layout.slice_height=32..512*2");
        return;
    }
    Setting& setting = overrides.front()->setting;
    setting.begin_sweep();
    for (const std::string& value : values) {
        const RecipePlace of_value =
            diagnostics.add_option(fmt::format("--sweep {}={}", text.substr(0, text.find('=')), value), number);
        if (is_range(value)) {
            read_range(value, of_value, setting);
        } else {
            setting.sweep.push_back(read_value_of(*overrides.front(), value, of_value));
        }
    }
    for (std::size_t i = 1; i < overrides.size(); ++i) {
        overrides[i]->setting.kind = "a reference";
        overrides[i]->setting.same_as = change->whats.front();
    }
    for (const std::optional<Override>& override : overrides) apply_setting(document, *override, diagnostics);
}

}  // namespace

bool names_recipe(const RecipeDocument& document, std::string_view name) {
    const std::string* own_name = document.recipe.text("name");
    return name.empty() || name == document.files.front().stem().string() || (own_name != nullptr && name == *own_name);
}

std::string recipe_of_change(std::string_view text) {
    const std::optional<Change> change = read_change(text);
    return change ? change->recipe : std::string();
}

void apply_changes(RecipeDocument& document, const RecipeChanges& changes, const std::vector<UnmatchedChange>& without,
                   Diagnostics& diagnostics) {
    const auto set_text = [&](const std::string& key, const std::string& text, const std::string& option) {
        set_in_matrix(document.matrix, text_setting(key, text, diagnostics.add_option(option + text)), diagnostics);
    };
    if (changes.matrix) set_text("path", *changes.matrix, "--matrix ");
    if (!changes.member.empty()) set_text("member", changes.member, "--member ");
    if (changes.generate) set_generator(document.matrix, *changes.generate, {}, "--generate ", diagnostics);
    const std::size_t overrides = changes.overrides.size();
    for (std::size_t i = 0; i < overrides + changes.sweeps.size(); ++i) {
        if (std::ranges::count(without, i, &UnmatchedChange::number) > 0) continue;
        if (i < overrides) {
            apply_override(document, changes.overrides[i], i, diagnostics);
        } else {
            apply_sweep(document, changes.sweeps[i - overrides], i, diagnostics);
        }
    }
}

MatrixChoice generated_matrix(const std::string& text, std::span<const std::string> settings, const Catalogue& catalogue) {
    Diagnostics diagnostics("generate", "");
    RecipeTable table;
    set_generator(table, text, settings, "generate ", diagnostics);
    MatrixChoice choice = check_matrix(table, {}, catalogue, nullptr, diagnostics);
    diagnostics.throw_if_any();
    return choice;
}

}  // namespace workbench
