#include <fmt/core.h>

#include <algorithm>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// True if the setting names a share, which stages without a parameter `share` cannot work on.
bool selects_share(const Setting& setting) {
    const auto* text = setting.as<std::string>();
    return setting.key == "share" && text != nullptr && share_choice(*text).has_value();
}

std::string unknown_key(const Setting& setting, const std::string& owner, const std::vector<ParameterDeclaration>& known) {
    const std::string& key = setting.key;
    const std::string shown = printable(key, 40);
    if (selects_share(setting)) return fmt::format("{} cannot work on a share", owner);
    const auto renamed = std::ranges::find(known, key, &ParameterDeclaration::formerly);
    if (!key.empty() && renamed != known.end()) return fmt::format("{}: '{}' is now called '{}'", owner, shown, renamed->name);
    if (known.empty()) return fmt::format("{} has no parameters; found '{}'", owner, shown);
    return fmt::format("{} has no '{}'{}", owner, shown, expected_one_of(key, names_of(known)));
}

/// The value of a setting for this declaration, if it has the form of one.
std::optional<ParameterValue> value_for(const ParameterDeclaration& declaration, const Setting& setting) {
    if (!is_list(declaration.type)) return setting.value;
    if (const auto* only = setting.as<std::int64_t>()) return std::to_string(*only);
    return setting.list ? std::optional<ParameterValue>(*setting.list) : setting.value;
}

std::string reason_to_refuse(const ParameterDeclaration& declaration, const Setting& setting) {
    if (const std::optional<ParameterValue> value = value_for(declaration, setting))
        return reason_to_refuse(declaration, *value);
    return fmt::format("{}, expected {}", found_text(setting), accepted_values(declaration));
}

}  // namespace

std::optional<Parameters> check_parameters(const RecipeTable& table, const std::string& owner,
                                           const std::vector<ParameterDeclaration>& declarations,
                                           const std::vector<std::string>& others, Diagnostics& diagnostics) {
    bool correct = true;
    std::map<std::string, ParameterValue> given;
    for (const Setting& setting : table.settings) {
        if (std::ranges::count(others, setting.key) > 0) continue;
        const auto declaration = std::ranges::find(declarations, setting.key, &ParameterDeclaration::name);
        if (declaration == declarations.end()) {
            diagnostics.add_unmatched(setting.key_place, "{}", unknown_key(setting, owner, declarations));
            correct = false;
        } else if (const std::string reason = reason_to_refuse(*declaration, setting); !reason.empty()) {
            diagnostics.add(setting.value_place, "{}, {}: {}", owner, setting.key, reason);
            correct = false;
        } else {
            given.emplace(setting.key, *value_for(*declaration, setting));
        }
    }
    for (const ParameterDeclaration& declaration : declarations) {
        const bool needed = !declaration.default_value && !declaration.optional;
        if (!needed || table.find(declaration.name) != nullptr) continue;
        diagnostics.add(table.place_of("use"), "{} needs '{}': {}", owner, declaration.name, accepted_values(declaration));
        correct = false;
    }
    return correct ? std::optional(Parameters(declarations, std::move(given))) : std::nullopt;
}

}  // namespace workbench
