// Options that replace what the recipe says: --set, --sweep, --matrix, --member, --generate.
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

/// WHAT=VALUE; the value is read later.
std::optional<Override> read_path(std::string_view text, Place place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    Override override{split(text.substr(0, equals), '.'), {}};
    override.setting.key = override.path.back();
    override.setting.key_place = override.setting.value_place = place;
    const std::size_t fewest = override.path.front() == "stage" ? 3 : 2;
    const std::size_t most = override.path.front() == "layout" ? 4 : fewest;  // layout.SHARE.kernel.BACKEND
    const bool named = std::none_of(override.path.begin(), override.path.end(), [](const auto& word) { return word.empty(); });
    const bool fits = override.path.size() >= fewest && override.path.size() <= most;
    return named && fits ? std::optional(std::move(override)) : std::nullopt;
}

/// The text as it stands, not read as TOML.
Setting text_setting(const std::string& key, const std::string& text, Place place) {
    Setting setting;
    setting.key = key;
    setting.key_place = setting.value_place = place;
    setting.value = text;
    return setting;
}

Setting read_value_of(const Override& override, std::string_view text, Place place) {
    const std::string& key = override.setting.key;
    Setting setting = read_value(text, place);
    setting.key = key;
    const bool is_name = override.path.front() == "matrix" && (key == "path" || key == "member");  // a file may be called 2024
    const bool is_text = setting.value && std::holds_alternative<std::string>(*setting.value);
    return is_name && !is_text && !setting.swept ? text_setting(key, std::string(text), place) : setting;
}

/// The values between commas; not between those in quotes or brackets.
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

RecipeTable* find_stage(RecipeDocument& document, const std::string& id, Place place, Diagnostics& diagnostics) {
    for (RecipeTable& stage : document.stages) {
        if (stage.id == id) return &stage;
    }
    const std::string expected = expected_stage(id, document.stages, {}, diagnostics);
    const bool of_that_name = expected.starts_with("; expected that of");
    diagnostics.add_unmatched(
        place, fmt::format("{} '{}'{}", of_that_name ? "no stage has the id" : "unknown stage", printable(id, 40), expected));
    return nullptr;
}

/// Naming a matrix replaces all that the recipe says of its own. Only one option may name one.
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
    matrix.set(setting);
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

/// Of a list of layouts, the table that "layout.SHARE.PARAMETER" or "layout.SHARE.kernel.BACKEND" is about.
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
        diagnostics.add_unmatched(place, fmt::format("the recipe has several layouts; expected layout.SHARE.PARAMETER=VALUE or "
                                                     "layout.SHARE.kernel.BACKEND=NAME, SHARE one of {}",
                                                     join(shares)));
    } else {
        diagnostics.add_unmatched(
            place, fmt::format("no layout takes share '{}'{}", printable(path[1], 40), expected_one_of(path[1], shares)));
    }
    return nullptr;
}

/// The table that a path is about; null, with an error, where there is none.
RecipeTable* find_table(RecipeDocument& document, const std::vector<std::string>& path, Place place, Diagnostics& diagnostics) {
    const std::string& name = path.front();
    if (name == "stage") return find_stage(document, path[1], place, diagnostics);
    const bool several = !document.layouts.empty();
    if (name == "kernel" && path[1] == "side_by_side") {
        if (several) return &document.kernel;
        diagnostics.add_unmatched(place, "the recipe has one layout for all nonzeros, which has nothing beside it");
        return nullptr;
    }
    if (several && (name == "layout" || name == "kernel")) {
        return find_layout(document, path, place, diagnostics);
    }
    if (path.size() == 2) return document.find(name);
    diagnostics.add_unmatched(place, "the recipe has one layout for all nonzeros; expected layout.PARAMETER=VALUE");
    return nullptr;
}

/// Puts the setting where the path says, as if the recipe said so.
void apply_setting(RecipeDocument& document, const Override& override, Diagnostics& diagnostics) {
    const std::vector<std::string>& tables = table_names();
    const std::string& name = override.path.front();
    const Place place = override.setting.key_place;
    if (std::find(tables.begin(), tables.end(), name) == tables.end()) {
        diagnostics.add(place, fmt::format("unknown table '{}'{}", printable(name, 40), expected_one_of(name, tables)));
    } else if (name == "stage" && override.setting.key == "id") {
        diagnostics.add(place, "an id is for naming a stage; it cannot be set");
    } else if (name == "matrix") {
        set_in_matrix(document.matrix, override.setting, diagnostics);
    } else if (RecipeTable* table = find_table(document, override.path, place, diagnostics)) {
        table->set(override.setting);
    }
}

void apply_override(RecipeDocument& document, const std::string& text, std::size_t number, Diagnostics& diagnostics) {
    const Place place = diagnostics.add_option("--set " + text, number);
    auto override = read_path(text, place);
    if (!override) {
        diagnostics.add(place,
                        "expected stage.ID.PARAMETER=VALUE, layout.PARAMETER=VALUE, matrix.PARAMETER=VALUE, "
                        "kernel.BACKEND=NAME or recipe.name=TEXT");
        return;
    }
    override->setting = read_value_of(*override, std::string_view(text).substr(text.find('=') + 1), place);
    apply_setting(document, *override, diagnostics);
}

void apply_sweep(RecipeDocument& document, const std::string& text, std::size_t number, Diagnostics& diagnostics) {
    const Place place = diagnostics.add_option("--sweep " + text, number);
    auto override = read_path(text, place);
    const std::size_t equals = text.find('=');
    const std::vector<std::string> values = split_values(std::string_view(text).substr(std::min(equals, text.size() - 1) + 1));
    const bool empty = std::any_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); });
    if (!override || empty) {
        diagnostics.add(place,
                        "expected WHAT=VALUE,VALUE,... or WHAT=FIRST..LAST*FACTOR, as in "
                        "stage.metis_partition.parts=132,264 or layout.slice_height=32..512*2");
        return;
    }
    Setting setting = override->setting;
    setting.swept = true;
    setting.kind = "a sweep";
    for (const std::string& value : values) {
        const Place of_value = diagnostics.add_option(fmt::format("--sweep {}={}", text.substr(0, equals), value), number);
        if (is_range(value)) {
            read_range(value, of_value, setting);
        } else {
            setting.sweep.push_back(read_value_of(*override, value, of_value));
        }
    }
    override->setting = std::move(setting);
    apply_setting(document, *override, diagnostics);
}

}  // namespace

void apply_changes(RecipeDocument& document, const RecipeChanges& changes, const std::vector<UnmatchedChange>& without,
                   Diagnostics& diagnostics) {
    const auto set_text = [&](const std::string& key, const std::string& text, const std::string& option) {
        set_in_matrix(document.matrix, text_setting(key, text, diagnostics.add_option(option + text)), diagnostics);
    };
    if (changes.matrix) set_text("path", *changes.matrix, "--matrix ");
    if (!changes.member.empty()) set_text("member", changes.member, "--member ");
    if (changes.generate) set_generator(document.matrix, *changes.generate, {}, "--generate ", diagnostics);
    for (std::size_t i = 0; i < changes.overrides.size() + changes.sweeps.size(); ++i) {
        const bool unmatched =
            std::any_of(without.begin(), without.end(), [i](const auto& change) { return change.number == i; });
        if (unmatched) continue;
        const bool sweep = i >= changes.overrides.size();
        if (sweep) {
            apply_sweep(document, changes.sweeps[i - changes.overrides.size()], i, diagnostics);
        } else {
            apply_override(document, changes.overrides[i], i, diagnostics);
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
