// Options that say what the recipe would otherwise say: --set, --matrix, --member, --generate.
#include <fmt/core.h>

#include <algorithm>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

struct Override {
    std::vector<std::string> path;  // the words before '='
    Setting setting;                // its key is the last of them
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

std::optional<Override> read_override(std::string_view text, Place place, bool has_list_of_layouts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    Override override{split(text.substr(0, equals), '.'), read_value(text.substr(equals + 1), place)};
    override.setting.key = override.path.back();
    override.setting.key_place = place;
    const bool is_name = override.path == std::vector<std::string>{"matrix", "path"} ||
                         override.path == std::vector<std::string>{"matrix", "member"};  // a file may be called 2024
    if (is_name && !(override.setting.value && std::holds_alternative<std::string>(*override.setting.value))) {
        override.setting.value = std::string(text.substr(equals + 1));
        override.setting.texts.reset();
    }
    const std::size_t fewest = override.path.front() == "stage" ? 3 : 2;
    const std::size_t most = override.path.front() == "layout" && has_list_of_layouts ? 4 : fewest;
    const bool named = std::none_of(override.path.begin(), override.path.end(), [](const auto& word) { return word.empty(); });
    const bool fits = override.path.size() >= fewest && override.path.size() <= most;
    return named && fits ? std::optional(std::move(override)) : std::nullopt;
}

/// "row_sort_1 (line 9), row_sort_2 (line 15)".
std::string list_stages(const std::vector<const RecipeTable*>& stages) {
    std::vector<std::string> words;
    for (const RecipeTable* stage : stages) words.push_back(fmt::format("{} (line {})", stage->id, stage->place.line));
    return join(words);
}

RecipeTable* find_stage(RecipeDocument& document, const std::string& id, Place place, Diagnostics& diagnostics) {
    std::vector<std::string> ids;
    std::vector<const RecipeTable*> of_that_name;
    for (RecipeTable& stage : document.stages) {
        if (stage.id == id) return &stage;
        const std::string* use = stage.text("use");
        if (use != nullptr && *use == id) of_that_name.push_back(&stage);
        ids.push_back(stage.id);
    }
    const std::string shown = printable(id, 40);
    if (!of_that_name.empty()) {
        diagnostics.add(place, fmt::format("no stage has the id '{}'; expected that of one which uses it: {}", shown,
                                           list_stages(of_that_name)));
    } else if (ids.empty()) {
        diagnostics.add(place, fmt::format("unknown stage '{}'; the recipe has no stages", shown));
    } else {
        diagnostics.add(place, fmt::format("unknown stage '{}'{}", shown, expected_one_of(id, ids)));
    }
    return nullptr;
}

/// Of a list of layouts, the table that "layout.SHARE.PARAMETER" or "layout.SHARE.kernel.BACKEND" speaks of.
RecipeTable* find_layout(RecipeDocument& document, const std::vector<std::string>& path, Place place,
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
    const bool known = path.size() > 2 && std::find(shares.begin(), shares.end(), path[1]) != shares.end();
    if (path.size() < 3 || known) {
        diagnostics.add(place, fmt::format("the recipe has several layouts; expected layout.SHARE.PARAMETER=VALUE or "
                                           "layout.SHARE.kernel.BACKEND=NAME, SHARE one of {}",
                                           join(shares)));
    } else {
        diagnostics.add(place,
                        fmt::format("no layout takes share '{}'{}", printable(path[1], 40), expected_one_of(path[1], shares)));
    }
    return nullptr;
}

void set(RecipeTable& table, const Setting& setting) {
    const auto same = [&](const Setting& other) { return other.key == setting.key; };
    table.settings.erase(std::remove_if(table.settings.begin(), table.settings.end(), same), table.settings.end());
    table.settings.push_back(setting);
}

/// Naming the matrix makes all void that the recipe says of its own. Only one option may.
void set_in_matrix(RecipeTable& matrix, const Setting& setting, Diagnostics& diagnostics) {
    if (names_matrix(setting)) {
        std::erase_if(matrix.settings, [](const Setting& other) { return other.key_place.option < 0; });
        const auto other = std::find_if(matrix.settings.begin(), matrix.settings.end(), names_matrix);
        if (other != matrix.settings.end()) {
            diagnostics.add(setting.key_place, fmt::format("names a second matrix, after {}; expected one of them",
                                                           diagnostics.where(other->key_place)));
            return;
        }
    }
    set(matrix, setting);
}

/// The text as it stands, whatever it may mean in TOML.
Setting text_setting(const std::string& key, const std::string& text, Place place) {
    Setting setting;
    setting.key = key;
    setting.key_place = setting.value_place = place;
    setting.value = text;
    return setting;
}

/// "KIND:NAME=VALUE,..." and `more`, each NAME=VALUE. `option` is what stands before them on the command line: "--generate ".
void set_generator(RecipeTable& matrix, std::string_view text, std::span<const std::string> more, const std::string& option,
                   Diagnostics& diagnostics) {
    const std::size_t colon = text.find(':');
    const std::string kind(text.substr(0, colon));
    std::vector<std::string> words;
    if (colon != std::string_view::npos) words = split(text.substr(colon + 1), ',');
    words.insert(words.end(), more.begin(), more.end());

    const Place place_of_kind = diagnostics.add_option(option + kind);
    set_in_matrix(matrix, text_setting("generate", kind, place_of_kind), diagnostics);
    for (const std::string& word : words) {
        const Place place = diagnostics.add_option(option + word);
        const std::size_t equals = word.find('=');
        Setting setting =
            equals == std::string::npos ? Setting{} : read_value(std::string_view(word).substr(equals + 1), place);
        setting.key = word.substr(0, equals);
        setting.key_place = place;
        if (equals == std::string::npos || setting.key.empty()) {
            diagnostics.add(place_of_kind, fmt::format("found '{}'; expected NAME=VALUE", printable(word, 40)));
        } else if (matrix.find(setting.key) != nullptr && matrix.find(setting.key)->key_place.option >= 0) {
            diagnostics.add(place, fmt::format("'{}' is given twice", printable(setting.key, 40)));
        } else {
            set_in_matrix(matrix, setting, diagnostics);
        }
    }
}

void apply_override(RecipeDocument& document, const std::string& text, Diagnostics& diagnostics) {
    const std::vector<std::string>& tables = table_names();
    const Place place = diagnostics.add_option("--set " + text);
    const auto override = read_override(text, place, !document.layouts.empty());
    if (!override) {
        diagnostics.add(place,
                        "expected stage.ID.PARAMETER=VALUE, layout.PARAMETER=VALUE, matrix.PARAMETER=VALUE, "
                        "kernel.BACKEND=NAME or recipe.name=TEXT");
        return;
    }
    const std::string& name = override->path.front();
    const std::string& key = override->setting.key;
    if (std::find(tables.begin(), tables.end(), name) == tables.end()) {
        diagnostics.add(place, fmt::format("unknown table '{}'{}", printable(name, 40), expected_one_of(name, tables)));
    } else if (name == "stage" && key == "id") {
        diagnostics.add(place, "an id is for naming a stage; it cannot be set");
    } else if (name == "matrix") {
        set_in_matrix(document.matrix, override->setting, diagnostics);
    } else if (RecipeTable* table = name == "stage"            ? find_stage(document, override->path[1], place, diagnostics)
                                    : document.layouts.empty() ? document.find(name)
                                    : name == "layout"         ? find_layout(document, override->path, place, diagnostics)
                                                               : document.find(name)) {
        set(*table, override->setting);
    }
}

}  // namespace

void apply_changes(RecipeDocument& document, const RecipeChanges& changes, Diagnostics& diagnostics) {
    const auto set_text = [&](const std::string& key, const std::string& text, const std::string& option) {
        set_in_matrix(document.matrix, text_setting(key, text, diagnostics.add_option(option + text)), diagnostics);
    };
    if (changes.matrix) set_text("path", *changes.matrix, "--matrix ");
    if (!changes.member.empty()) set_text("member", changes.member, "--member ");
    if (changes.generate) set_generator(document.matrix, *changes.generate, {}, "--generate ", diagnostics);
    for (const std::string& text : changes.overrides) apply_override(document, text, diagnostics);
}

MatrixChoice generated_matrix(const std::string& text, std::span<const std::string> settings, const Catalogue& catalogue) {
    Diagnostics diagnostics("generate", "");
    RecipeTable table;
    set_generator(table, text, settings, "generate ", diagnostics);
    MatrixChoice choice = check_matrix(table, "", catalogue, nullptr, diagnostics);
    diagnostics.throw_if_any();
    return choice;
}

}  // namespace workbench
