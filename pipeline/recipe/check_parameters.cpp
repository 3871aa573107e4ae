#include <fmt/core.h>

#include <algorithm>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

const ParameterDeclaration* find(const std::vector<ParameterDeclaration>& declarations, const std::string& name) {
    for (const ParameterDeclaration& declaration : declarations) {
        if (declaration.name == name) return &declaration;
    }
    return nullptr;
}

std::string unknown_key(const std::string& key, const std::string& owner,
                        const std::vector<ParameterDeclaration>& declarations) {
    const std::string shown = printable(key, 40);
    std::vector<std::string> known;
    for (const ParameterDeclaration& declaration : declarations) {
        if (key == declaration.formerly) return fmt::format("{}: '{}' is now called '{}'", owner, shown, declaration.name);
        known.push_back(declaration.name);
    }
    if (known.empty()) return fmt::format("{} takes no parameters; found '{}'", owner, shown);
    return fmt::format("{} has no '{}'{}", owner, shown, expected_one_of(key, known));
}

std::string reason_to_refuse(const ParameterDeclaration& declaration, const Setting& setting) {
    if (setting.value) return reason_to_refuse(declaration, *setting.value);
    return fmt::format("{}, expected {}", found_text(setting), accepted_values(declaration));
}

}  // namespace

std::optional<Parameters> check_parameters(const RecipeTable& table, const std::string& owner,
                                           const std::vector<ParameterDeclaration>& declarations,
                                           const std::vector<std::string>& others, Diagnostics& diagnostics) {
    bool fine = true;
    const auto refuse = [&](Place place, std::string message) {
        diagnostics.add(place, std::move(message));
        fine = false;
    };
    std::map<std::string, ParameterValue> given;
    for (const Setting& setting : table.settings) {
        if (std::find(others.begin(), others.end(), setting.key) != others.end()) continue;
        const ParameterDeclaration* declaration = find(declarations, setting.key);
        if (declaration == nullptr) {
            diagnostics.add_unmatched(setting.key_place, unknown_key(setting.key, owner, declarations));
            fine = false;
        } else if (const std::string reason = reason_to_refuse(*declaration, setting); !reason.empty()) {
            refuse(setting.value_place, fmt::format("{}, {}: {}", owner, setting.key, reason));
        } else {
            given.emplace(setting.key, *setting.value);
        }
    }
    for (const ParameterDeclaration& declaration : declarations) {
        const bool needed = !declaration.default_value && !declaration.optional;
        if (!needed || table.find(declaration.name) != nullptr) continue;
        refuse(table.place_of("use"), fmt::format("{} needs '{}': {}", owner, declaration.name, accepted_values(declaration)));
    }
    return fine ? std::optional(Parameters(declarations, std::move(given))) : std::nullopt;
}

}  // namespace workbench
