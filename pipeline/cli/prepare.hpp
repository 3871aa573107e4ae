// --prepare: where stages and layouts have their work done.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "pipeline/matrix/preparer.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// What --prepare is where the command line does not say it: what the recipes ask for.
inline const std::string as_recipes_ask = "recipe";

/// Adds --prepare. `where` must live until the command line is parsed.
void add_prepare_option(CLI::App& command, std::string& where);

/// "cpu" or "gpu": what the command line says, or else [recipe] prepare, and "cpu" where nobody says anything. The recipes of a
/// run share their stages: throws RecipeError where one asks for the one, and another for the other.
[[nodiscard]] std::string where_to_prepare(const std::string& where, std::span<const Recipe> recipes);

/// Null for "cpu". Throws MachineError where there is no GPU for "gpu".
[[nodiscard]] std::unique_ptr<Preparer> preparer_for(const std::string& where, std::span<const Recipe> recipes);

}  // namespace workbench
