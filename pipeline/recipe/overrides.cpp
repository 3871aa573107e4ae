// --set: options that say what the recipe would otherwise say.
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

std::optional<Override> read_override(std::string_view text, Place place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    Override override{split(text.substr(0, equals), '.'), read_value(text.substr(equals + 1), place)};
    override.setting.key = override.path.back();
    override.setting.key_place = place;
    const bool is_path = override.path == std::vector<std::string>{"matrix", "path"};  // a file may be called 2024
    if (is_path && !(override.setting.value && std::holds_alternative<std::string>(*override.setting.value))) {
        override.setting.value = std::string(text.substr(equals + 1));
        override.setting.texts.reset();
    }
    const std::size_t words = override.path.front() == "stage" ? 3 : 2;
    const bool named = std::none_of(override.path.begin(), override.path.end(), [](const auto& word) { return word.empty(); });
    return named && override.path.size() == words ? std::optional(std::move(override)) : std::nullopt;
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

void set(RecipeTable& table, const Setting& setting) {
    const auto same = [&](const Setting& other) { return other.key == setting.key; };
    table.settings.erase(std::remove_if(table.settings.begin(), table.settings.end(), same), table.settings.end());
    table.settings.push_back(setting);
}

/// Another matrix makes all that the recipe says of its own void.
void forget_matrix_of_file(RecipeTable& matrix) {
    const auto of_file = [](const Setting& setting) { return setting.key_place.option < 0; };
    matrix.settings.erase(std::remove_if(matrix.settings.begin(), matrix.settings.end(), of_file), matrix.settings.end());
}

}  // namespace

void apply_overrides(RecipeDocument& document, std::span<const std::string> overrides, Diagnostics& diagnostics) {
    const std::vector<std::string>& tables = table_names();
    for (std::size_t i = 0; i < overrides.size(); ++i) {
        const Place place{0, 0, static_cast<int>(i)};
        const auto override = read_override(overrides[i], place);
        if (!override) {
            diagnostics.add(
                place,
                "expected stage.ID.PARAMETER=VALUE, layout.PARAMETER=VALUE, matrix.PARAMETER=VALUE, kernel.BACKEND=NAME or "
                "recipe.name=TEXT");
            continue;
        }
        const std::string& name = override->path.front();
        const std::string& key = override->setting.key;
        if (std::find(tables.begin(), tables.end(), name) == tables.end()) {
            diagnostics.add(place, fmt::format("unknown table '{}'{}", printable(name, 40), expected_one_of(name, tables)));
        } else if (name == "stage" && key == "id") {
            diagnostics.add(place, "an id is for naming a stage; it cannot be set");
        } else if (RecipeTable* table =
                       name == "stage" ? find_stage(document, override->path[1], place, diagnostics) : document.find(name)) {
            if (name == "matrix" && names_matrix(override->setting)) forget_matrix_of_file(*table);
            set(*table, override->setting);
        }
    }
}

}  // namespace workbench
