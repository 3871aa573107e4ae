// Overrides on the command line.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "recipe/recipes.hpp"

namespace workbench {
namespace {

TEST_CASE("overrides act as if the recipe contained them") {
    const Recipe recipe = parse(
        whole, {"stage.graph_partition.parts=auto", "stage.graph_partition.imbalance=2", "stage.graph_partition.refine=false",
                "stage.graph_partition.method=recursive", "matrix.path=/data/b.mtx", "matrix.node_size=2",
                "recipe.name=another name", "kernel.kokkos=\"slices\"", "stage.sort_outside.share=inside"});
    const Parameters& parameters = recipe.stages[0].parameters;
    CHECK(parameters.is_word("parts", "auto"));
    CHECK(parameters.real("imbalance") == 2.0);
    CHECK_FALSE(parameters.boolean("refine"));
    CHECK(parameters.text("method") == "recursive");
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == "/data/b.mtx");
    CHECK(recipe.node_size == 2);
    CHECK(recipe.name == "another name");
    CHECK(recipe.stages[3].parameters.text("share") == "inside");
    CHECK(parse(whole, {"layout.use=cached"}).layouts.front().entry->name == "cached");
}

TEST_CASE("an integer of more than 64 bits is reported as such") {
    const auto found = [](const std::string& value) { return errors_of(whole, {"stage.graph_partition.parts=" + value}); };
    const std::string large = "99999999999999999999";
    CHECK_MESSAGE(contains(found(large), "parts: found 99999999999999999999, too large for an integer, expected "),
                  found(large));
    CHECK(contains(found("+" + large), "parts: found +99999999999999999999, too large for an integer, expected "));
    CHECK(contains(found("-" + large), "parts: found -99999999999999999999, too small for an integer, expected "));
    CHECK(contains(found(large + "x"), "parts: found \"99999999999999999999x\", expected "));
    CHECK(std::get<MatrixFile>(parse(whole, {"matrix.path=" + large}).matrix.from).path == large);
}

TEST_CASE("extends cannot be set") {
    CHECK(
        contains(errors_of(whole, {"recipe.extends=base.toml"}), "[recipe], extends: it cannot be set; expected it in a file"));
}

TEST_CASE("overriding the matrix replaces the whole table") {
    const std::string text = "[matrix]\nrows = ['1 .', '. 1']\nnode_size = 2\n[layout]\nuse = 'plain'\n";
    const Recipe other = parse(text, {"matrix.path=b.mtx"});
    CHECK(std::get<MatrixFile>(other.matrix.from).path == "b.mtx");  // relative to the current folder
    CHECK(other.node_size == 1);
    const Recipe written = parse(text, {"matrix.rows=['1']"});
    CHECK(std::get<InlineMatrix>(written.matrix.from).rows == std::vector<std::string>{"1"});
    CHECK(parse("[layout]\nuse='plain'", {"matrix.path=1.5"
                                          ".mtx"})
              .matrix.from.index() == 1);
}

TEST_CASE("rows are the matrix itself, or their number for a generator with that parameter") {
    const auto rows_of = [](const Recipe& recipe) {
        return std::get<GeneratedMatrix>(recipe.matrix.from).parameters.integer("rows");
    };
    const std::string layout = "[layout]\nuse = 'plain'\n";
    const std::string text = "[matrix]\ngenerate = 'random_uniform'\nrows = 70\nshortest = 1\nlongest = 3\n" + layout;
    const Recipe recipe = parse(text);
    CHECK(rows_of(recipe) == 70);
    CHECK(rows_of(parse(resolved_recipe(recipe))) == 70);
    CHECK(rows_of(parse(text, {"matrix.rows=80"})) == 80);
    CHECK(rows_of(parse(layout,
                        {"matrix.generate=random_uniform", "matrix.rows=90", "matrix.shortest=1", "matrix.longest=3"})) == 90);
    CHECK(std::get<InlineMatrix>(parse(text, {"matrix.rows=['1']"}).matrix.from).rows == std::vector<std::string>{"1"});
    CHECK_THROWS_AS((void)parse("[matrix]\ngenerate = 'random_uniform'\nshortest = 1\nlongest = 3\n" + layout), RecipeError);
    CHECK_THROWS_AS((void)parse("[matrix]\ngenerate = 'random_uniform'\nrows = ['1']\nshortest = 1\nlongest = 3\n" + layout),
                    RecipeError);
    CHECK_THROWS_AS((void)parse("[matrix]\nrows = 70\n" + layout), RecipeError);
}

}  // namespace
}  // namespace workbench
