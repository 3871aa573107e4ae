// The data about recipes that the live page needs, as JSON: the catalogue, the errors of a text, and the places of its values.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/contract/catalogue.hpp"
#include "pipeline/recipe/checked_text.hpp"

namespace workbench {

/// Stages, layouts with their kernels, and generators: {"name", "summary", "parameters": [{"name", "type", "default",
/// "minimum", "maximum", "words", "unit", "help"}]}; and the keys of [recipe] and [matrix].
[[nodiscard]] nlohmann::json json_of(const Catalogue& catalogue);

/// [{"line", "column", "message"}] in the order of the text. Line 0: the whole text. The places of errors in other files are
/// in the message.
[[nodiscard]] nlohmann::json json_of(const std::vector<RecipeProblem>& problems);

/// The tables of a text: {"recipe", "matrix", "layout", "kernel", "stages": [], "layouts": []}, each {"line", "settings":
/// [{"key", "line", "column", "value"}]} with the place of the value, which is null unless it is plain. Null if the text is not
/// TOML.
[[nodiscard]] nlohmann::json outline_of(const std::string& text, const std::filesystem::path& file);

}  // namespace workbench
