// How the stages of a recipe are called.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "pipeline/recipe/document.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_id = 64;

/// An id is part of options and of file names.
bool is_id(const std::string& text) {
    const auto allowed = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '_' || letter == '-';
    };
    return !text.empty() && text.size() <= longest_id && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

void name_stages(RecipeDocument& document, Diagnostics& diagnostics) {
    std::map<std::string, Place> place_of_id;
    std::map<std::string, int> count_of_name;  // of the stages without an id
    for (const RecipeTable& stage : document.stages) {
        if (!stage.id.empty()) place_of_id.emplace(stage.id, stage.place);
    }
    for (RecipeTable& stage : document.stages) {
        if (!stage.id.empty()) continue;
        const Setting* asked = stage.find("id");
        const std::string* use = stage.text("use");
        if (asked == nullptr) {
            if (use != nullptr) ++count_of_name[*use];
            continue;
        }
        const std::string* id = stage.text("id");
        if (id == nullptr || !is_id(*id)) {
            diagnostics.add(asked->value_place,
                            fmt::format("id: {}, expected a word of at most {} letters, digits, '_' and '-'",
                                        found_text(*asked), longest_id));
        } else if (const auto [first, fresh] = place_of_id.emplace(*id, stage.place); fresh) {
            stage.id = *id;
        } else {
            diagnostics.add(asked->value_place, fmt::format("id '{}' already names the stage on {}", *id,
                                                            diagnostics.line(first->second, asked->value_place)));
        }
    }
    std::map<std::string, int> number_of_name;
    for (RecipeTable& stage : document.stages) {
        const std::string* use = stage.text("use");
        if (!stage.id.empty() || stage.find("id") != nullptr || use == nullptr) continue;
        const bool lone = count_of_name[*use] == 1;
        if (const auto taken = place_of_id.find(*use); lone && taken != place_of_id.end()) {
            diagnostics.add(stage.place_of("use"),
                            fmt::format("'{}' is the id of the stage on {}; give this stage an id of its own", taken->first,
                                        diagnostics.line(taken->second, stage.place)));
            continue;
        }
        do {
            stage.id = lone ? *use : fmt::format("{}_{}", *use, ++number_of_name[*use]);
        } while (!place_of_id.emplace(stage.id, stage.place).second);
    }
}

}  // namespace workbench
