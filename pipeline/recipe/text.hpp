// Checks the characters of a recipe before the TOML parser reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/characters.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The longest name of a recipe, in characters.
constexpr std::size_t longest_recipe_name = 80;

/// A recipe's name with something added to it. Both are cut where they would exceed the longest name, at most the half of it.
[[nodiscard]] std::string extended_name(const std::string& name, const std::string& added);

struct TextError {
    RecipePlace place;
    std::string message;
};

/// The first reason not to pass this text to toml++ 3.3, which has undefined behaviour on some of these and recurses without
/// bound on others: bytes that are not UTF-8, control characters, characters outside ASCII where TOML allows none, tables
/// without a name, deeply nested keys, long lines.
[[nodiscard]] std::optional<TextError> first_text_error(std::string_view text);

}  // namespace workbench
