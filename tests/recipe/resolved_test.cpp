// Resolved recipes.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "recipe/recipes.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

TEST_CASE("the resolved recipe is complete and loads as the same recipe") {
    const Recipe recipe = parse(whole, {"stage.graph_partition.parts=264", "matrix.node_size=3", "kernel.kokkos=slices"});
    const std::string text = resolved_recipe(recipe);
    CHECK(text == fmt::format(R"([recipe]
name   = "whole"
source = "made up, in a \"test\" — for this one"

[matrix]
path      = "{}"
node_size = 3

[[stage]]
use       = "graph_partition"
parts     = 264
method    = "kway"
imbalance = 1.03
refine    = true

[[stage]]
use    = "sort"
within = "partition"
apply  = "symmetric"

[[stage]]
use = "split"
by  = "inside_partition"

[[stage]]
id     = "sort_outside"
use    = "sort"
within = "all"
share  = "outside"
apply  = "symmetric"

[layout]
use = "cached"

[kernel]
kokkos = "slices"
)",
                              fs::absolute("recipes/matrices/a.mtx").string()));
    check_same(recipe, parse_recipe(text, "/elsewhere/resolved.toml", small_catalogue()));

    const Recipe inline_matrix = parse(
        "[matrix]\nrows = ['1 . 2', '. 3 .']\n[[stage]]\nuse = 'sort'\n[[stage]]\nuse = 'sort'\n[layout]\nuse = 'plain'\n");
    check_same(inline_matrix, parse(resolved_recipe(inline_matrix)));
    const Recipe odd =
        parse("[recipe]\nsource = \"tab\\t quote\\\" backslash\\\\ bell\\u0007 newline\\n é\"\n[layout]\nuse = 'plain'\n");
    check_same(odd, parse(resolved_recipe(odd)));
}

}  // namespace
}  // namespace workbench
