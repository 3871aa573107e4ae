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

/// The first reason not to hand this text to the TOML parser: a byte that is not UTF-8, a control character, a character
/// outside ASCII where TOML allows none, a table without a name, a key nested deeper or a line longer than any recipe needs.
/// toml++ 3.3 has undefined behaviour on some of these and recurses without bound on others.
[[nodiscard]] std::optional<TextError> first_text_error(std::string_view text);

}  // namespace workbench
