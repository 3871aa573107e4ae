// Overrides of the command line.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "recipe/recipes.hpp"

namespace workbench {
namespace {

TEST_CASE("overrides are as if the recipe said so") {
    const Recipe recipe = parse(
        whole, {"stage.graph_partition.parts=auto", "stage.graph_partition.imbalance=2", "stage.graph_partition.refine=false",
                "stage.graph_partition.method=recursive", "matrix.path=/data/b.mtx", "matrix.node_size=2",
                "recipe.name=another name", "kernel.kokkos=\"slices\"", "stage.sort_outside.part=inside"});
    const Parameters& parameters = recipe.stages[0].parameters;
    CHECK(parameters.is_word("parts", "auto"));
    CHECK(parameters.real("imbalance") == 2.0);
    CHECK_FALSE(parameters.boolean("refine"));
    CHECK(parameters.text("method") == "recursive");
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == "/data/b.mtx");
    CHECK(recipe.matrix.node_size == 2);
    CHECK(recipe.name == "another name");
    CHECK(recipe.stages[3].parameters.text("part") == "inside");
    CHECK(parse(whole, {"layout.use=cached"}).layout.entry->name == "cached");
}

TEST_CASE("overriding the matrix replaces all that the recipe says of its own") {
    const std::string text = "[matrix]\nrows = ['1 .', '. 1']\nnode_size = 2\n[layout]\nuse = 'plain'\n";
    const Recipe other = parse(text, {"matrix.path=b.mtx"});
    CHECK(std::get<MatrixFile>(other.matrix.from).path == "b.mtx");  // relative to the current folder, as given
    CHECK(other.matrix.node_size == 1);
    const Recipe written = parse(text, {"matrix.rows=['1']"});
    CHECK(std::get<InlineMatrix>(written.matrix.from).rows == std::vector<std::string>{"1"});
    CHECK(parse("[layout]\nuse='plain'", {"matrix.path=1.5"
                                          ".mtx"})
              .matrix.from.index() == 1);
}

}  // namespace
}  // namespace workbench
