// Spaces: recipes with alternatives.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pipeline/recipe/space.hpp"
#include "recipe/recipes.hpp"

namespace workbench {
namespace {

Space space_of(const std::string& text, const SpaceFacts* facts = nullptr, const RecipeChanges& changes = {}) {
    return parse_space("[space]\n" + text, "spaces/test.toml", small_catalogue(), changes, facts);
}

std::vector<std::string> names_of_points(const Space& space) {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < space.count(); ++i) names.push_back(space.recipe(space.point(i)).name);
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a space has a point for each combination of alternatives, values and stages that may be left out") {
    const Space space = space_of(R"(
name = "test"
[[stage]]
id = "order"
optional = true
use = { sweep = ["shuffle", { use = "graph_partition", parts = [16, 'auto'] }] }
[layout]
use = "plain"
slice_height = { sweep = "1..4*2" }
)");
    CHECK(space.name() == "test");
    CHECK(space.count() == 12);
    CHECK(names_of_points(space) ==
          Names{"plain slice_height=1", "plain slice_height=2", "plain slice_height=4", "shuffle, plain slice_height=1",
                "shuffle, plain slice_height=2", "shuffle, plain slice_height=4",
                "graph_partition parts=16, plain slice_height=1", "graph_partition parts=16, plain slice_height=2",
                "graph_partition parts=16, plain slice_height=4", "graph_partition parts=auto, plain slice_height=1",
                "graph_partition parts=auto, plain slice_height=2", "graph_partition parts=auto, plain slice_height=4"});
}

}  // namespace workbench
