// The characters of a recipe, before the TOML parser sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The characters of valid UTF-8, one string each; every byte that is none becomes "?", and so does every control character but
/// the tab: what is printed must not command a terminal.
[[nodiscard]] std::vector<std::string> characters(std::string_view text);

/// At most `longest` characters, tabs as "?" too; "..." follows where there were more.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest);

struct TextError {
    Place place;
    std::string message;
};

/// The first reason not to hand this text to the TOML parser: it is not UTF-8, holds control characters, characters outside
/// ASCII where TOML allows none (toml++ 3.3 has undefined behaviour on some of them), or keys nested deeper than any recipe
/// needs.
[[nodiscard]] std::optional<TextError> first_text_error(std::string_view text);

}  // namespace workbench
