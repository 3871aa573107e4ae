// The recipe language, tested with a small catalogue of its own. More tests are in tests/recipe.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/input/inline_matrix.hpp"
#include "recipe/recipes.hpp"

namespace workbench {
namespace {

TEST_CASE("a whole recipe becomes plain data") {
    const Recipe recipe = parse(whole);
    CHECK(recipe.name == "whole");
    CHECK(recipe.source == "made up, in a \"test\" — for this one");
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == "recipes/matrices/a.mtx");
    CHECK(recipe.node_size == 1);
    REQUIRE(recipe.stages.size() == 4);
    CHECK(recipe.stages[0].id == "graph_partition");
    CHECK(recipe.stages[0].parameters.integer("parts") == 16);
    CHECK(recipe.stages[0].parameters.real("imbalance") == 1.03);
    CHECK(recipe.stages[0].parameters.boolean("refine"));
    CHECK(recipe.stages[0].place == RecipePlace{9, 1});
    CHECK(recipe.stages[1].id == "sort");
    CHECK(recipe.stages[1].contract.keeps == std::vector{CutKind::partition});
    CHECK(recipe.stages[3].id == "sort_outside");
    CHECK_FALSE(recipe.stages[3].contract.acts);
    CHECK(recipe.layouts.front().entry->name == "cached");
    CHECK(recipe.layouts.front().kernels.empty());
}

TEST_CASE("the smallest recipe is a layout") {
    const Recipe recipe = parse("layout.use = 'plain'");
    CHECK(recipe.name == "test");  // from the file
    CHECK(std::holds_alternative<std::monostate>(recipe.matrix.from));
    CHECK(recipe.stages.empty());
    CHECK(recipe.layouts.front().parameters.integer("slice_height") == 32);
    CHECK(recipe.layouts.front().kernels.empty());
}

TEST_CASE("a recipe may select a device model and where preprocessing runs") {
    const Recipe recipe = parse("recipe.device = 'h200'\nrecipe.prepare = 'gpu'\nlayout.use = 'plain'");
    CHECK(recipe.device == "h200");
    CHECK(recipe.prepare == "gpu");
    check_same(parse(resolved_recipe(recipe)), recipe);
    CHECK(parse("layout.use = 'plain'").prepare.empty());
}

TEST_CASE("byte order marks and Windows line ends are accepted") {
    CHECK(parse("\xEF\xBB\xBF[layout]\r\nuse = 'plain'\r\n").layouts.front().entry->name == "plain");
}

TEST_CASE("kernels are chosen by backend; a choice for a backend that is not built is kept") {
    const Recipe recipe = parse("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'lanes'\ncuda = 'fused'\n");
    CHECK(recipe.layouts.front().kernels ==
          std::map<Backend, std::string>{{Backend::kokkos, "lanes"}, {Backend::cuda, "fused"}});
}

TEST_CASE("a matrix may be written out or generated") {
    const Recipe written = parse("[matrix]\nrows = ['1 . 2', '. 3 .', '4 . 5']\nnode_size = 3\n[layout]\nuse = 'plain'\n");
    CHECK(csr_from_rows(std::get<InlineMatrix>(written.matrix.from).rows).nonzeros() == 5);
    CHECK(written.node_size == 3);
    const GeneratorEntry& generator = small_catalogue().generators.front();
    std::string given;
    for (const ParameterDeclaration& declaration : generator.parameters) {
        if (!declaration.default_value && !declaration.optional) given += declaration.name + " = 4\n";
    }
    const Recipe generated =
        parse(fmt::format("[matrix]\ngenerate = '{}'\n{}[layout]\nuse = 'plain'\n", generator.name, given));
    CHECK(std::get<GeneratedMatrix>(generated.matrix.from).generator->name == generator.name);
    check_same(generated, parse(resolved_recipe(generated)));
    CHECK(contains(
        errors_of(fmt::format("[matrix]\ngenerate = '{}'\n{}whatever = 1\n[layout]\nuse = 'plain'", generator.name, given)),
        fmt::format("[matrix] with generator '{}' has no 'whatever'", generator.name)));
}

TEST_CASE("stages of one name without ids are numbered") {
    const Recipe recipe =
        parse("[[stage]]\nuse='sort'\n[[stage]]\nuse='shuffle'\n[[stage]]\nuse='sort'\n[layout]\nuse='plain'");
    CHECK(recipe.stages[0].id == "sort_1");
    CHECK(recipe.stages[1].id == "shuffle");
    CHECK(recipe.stages[2].id == "sort_2");
}

TEST_CASE("a new partition may replace an old one, and an order of rows leaves segments alone") {
    const std::string layout = "[layout]\nuse = 'plain'\n";
    const std::string partition = "[[stage]]\nuse = 'graph_partition'\nparts = 'auto'\n";
    const std::string segments = "[[stage]]\nuse = 'segments'\nwidth = 4\n";
    CHECK(errors_of(partition + partition + layout).empty());
    CHECK(errors_of(segments + "[[stage]]\nuse = 'sort'\napply = 'rows'\n" + layout).empty());
    CHECK_FALSE(errors_of(segments + "[[stage]]\nuse = 'sort'\napply = 'columns'\n" + layout).empty());
    CHECK_FALSE(errors_of(segments + "[[stage]]\nuse = 'sort'\n" + layout).empty());
    CHECK_FALSE(errors_of(partition + "[[stage]]\nuse = 'sort'\napply = 'rows'\n" + layout).empty());
}

TEST_CASE("checks that depend on the matrix") {
    const Recipe recipe = parse(whole, {"matrix.node_size=3"});
    CHECK_NOTHROW(check_against(recipe, 9, 9));
    CHECK_THROWS_WITH_AS(check_against(recipe, 9, 12),
                         "the matrix has 9 rows and 12 columns; expected a square one, for stage 'graph_partition' "
                         "(recipes/test.toml:9), stage 'sort' (recipes/test.toml:13), layout 'cached' (recipes/test.toml:25), "
                         "node_size = 3 in [matrix]",
                         InputError);
    CHECK_THROWS_WITH_AS(check_against(recipe, 10, 10),
                         "the matrix has 10 rows; expected a multiple of node_size = 3 in [matrix] of recipes/test.toml",
                         InputError);
    const Recipe rectangular = parse("[[stage]]\nuse = 'sort'\napply = 'rows'\n[layout]\nuse = 'plain'\n");
    CHECK_NOTHROW(check_against(rectangular, 9, 12));
}

const std::string hybrid = R"(
[[stage]]
use = "split"
by  = "first_of_row"

[[layout]]
share         = "first"
use           = "plain"
slice_height  = 8
kernel.kokkos = "lanes"

[[layout]]
share = "rest"
use   = "plain"
)";

TEST_CASE("several layouts, each with its share and kernels") {
    const Recipe recipe = parse(hybrid);
    CHECK(recipe.is_hybrid());
    CHECK(name_of_layouts(recipe) == "plain + plain");
    REQUIRE(recipe.layouts.size() == 2);
    CHECK(recipe.layouts[0].share == ShareId{ShareKind::first});
    CHECK(recipe.layouts[0].parameters.integer("slice_height") == 8);
    CHECK(recipe.layouts[0].kernels == std::map<Backend, std::string>{{Backend::kokkos, "lanes"}});
    CHECK(recipe.layouts[0].place.line == 6);
    CHECK(recipe.layouts[1].share == ShareId{ShareKind::rest});
    CHECK(recipe.layouts[1].parameters.integer("slice_height") == 32);
    CHECK(recipe.layouts[1].kernels.empty());
    CHECK_FALSE(parse(whole).is_hybrid());
    check_same(parse(resolved_recipe(recipe)), recipe);
    CHECK(
        resolved_recipe(recipe).ends_with("[[layout]]\n"
                                          "share         = \"first\"\n"
                                          "use           = \"plain\"\n"
                                          "slice_height  = 8\n"
                                          "kernel.kokkos = \"lanes\"\n"
                                          "\n"
                                          "[[layout]]\n"
                                          "share        = \"rest\"\n"
                                          "use          = \"plain\"\n"
                                          "slice_height = 32\n"));
}

TEST_CASE("a single [[layout]] may store all nonzeros") {
    const Recipe recipe = parse("[[layout]]\nuse = 'plain'\nkernel.kokkos = 'rows'\n");
    CHECK_FALSE(recipe.is_hybrid());
    CHECK(recipe.layouts.front().kernels == std::map<Backend, std::string>{{Backend::kokkos, "rows"}});
    check_same(parse(resolved_recipe(recipe)), recipe);
}

TEST_CASE("options address one of several layouts by its share") {
    const Recipe recipe = parse(hybrid, {"layout.rest.slice_height=4", "layout.first.kernel.kokkos=rows",
                                         "layout.first.slice_height=2", "layout.rest.kernel.eigen=oracle"});
    CHECK(recipe.layouts[0].parameters.integer("slice_height") == 2);
    CHECK(recipe.layouts[1].parameters.integer("slice_height") == 4);
    CHECK(recipe.layouts[0].kernels == std::map<Backend, std::string>{{Backend::kokkos, "rows"}});
    CHECK(recipe.layouts[1].kernels == std::map<Backend, std::string>{{Backend::eigen, "oracle"}});
}

}  // namespace
}  // namespace workbench
