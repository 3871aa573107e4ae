// Labels that tell apart measurements, or recipes, of one name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "studies/bench/records.hpp"

namespace workbench {

/// The settings of a resolved recipe that can change a measurement, as TOML values: "layout.slice_height" -> "32",
/// "stage.row_sort.window" -> "256". Leaves out the names of the recipe and of its matrix.
[[nodiscard]] std::map<std::string, std::string> facts_of_recipe(const std::string& resolved);

/// Keeps the last record of each experiment, matrix, precision and device, and sets `Record::recipe` of the others: the name,
/// followed by the facts in which experiments of this name differ, as in "SELL: slice_height=32, warm".
void keep_last_and_tell_apart(std::vector<Record>& records);

/// Appends the recipe file to names that several recipes have. The first `kept` recipes keep their names.
void tell_names_apart(std::vector<Recipe>& recipes, std::size_t kept = 0);

}  // namespace workbench
