// A small catalogue and a recipe for the tests of the recipe language.
#pragma once

#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// Stages with contracts but without effect, and layouts that are never built.
[[nodiscard]] const Catalogue& small_catalogue();

/// A recipe with a matrix, four stages and a layout.
inline const std::string whole = R"(
[recipe]
name = "whole"
source = "made up, in a \"test\" — for this one"

[matrix]
path = "matrices/a.mtx"

[[stage]]
use   = "graph_partition"
parts = 16

[[stage]]
use    = "sort"
within = "partition"

[[stage]]
use = "split"

[[stage]]
id    = "sort_outside"
use   = "sort"
share = "outside"

[layout]
use = "cached"
)";

/// Parses a text as recipes/test.toml.
[[nodiscard]] Recipe parse(const std::string& text, const std::vector<std::string>& overrides = {});

/// The points of a text with sweeps, as recipes/test.toml.
[[nodiscard]] std::vector<Recipe> points_of(const std::string& text, const RecipeChanges& changes = {});

/// The text of the errors; empty if there are none.
[[nodiscard]] std::string errors_of(const std::string& text, const std::vector<std::string>& overrides = {});

[[nodiscard]] bool contains(const std::string& text, const std::string& piece);

void check_same(const Recipe& a, const Recipe& b);

}  // namespace workbench
