// Recipes with sweeps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "recipe/recipes.hpp"

namespace workbench {
namespace {

std::vector<std::string> labels_of(const std::string& text, const RecipeChanges& changes = {}) {
    std::vector<std::string> labels;
    for (const Recipe& point : points_of(text, changes)) labels.push_back(point.sweep.label);
    return labels;
}

using Texts = std::vector<std::string>;

const std::string plain = "[layout]\nuse = 'plain'\n";
const std::string shuffle = "[[stage]]\nuse = 'shuffle'\n";

}  // namespace

TEST_CASE("each value of a sweep makes a recipe") {
    const std::vector<Recipe> points =
        points_of("[[stage]]\nuse = 'graph_partition'\nparts = { sweep = [132, 'auto'] }\n" + plain);
    REQUIRE(points.size() == 2);
    CHECK(points[0].stages[0].parameters.integer("parts") == 132);
    CHECK(points[1].stages[0].parameters.is_word("parts", "auto"));
    REQUIRE(points[1].sweep.values.size() == 1);
    CHECK(points[1].sweep.values[0].name == "stage.graph_partition.parts");
    CHECK(points[1].sweep.values[0].value == ParameterValue(std::string("auto")));
    CHECK(points[1].sweep.label == "parts=auto");
    CHECK(points[1].sweep.folder == "parts=auto");
    for (const Recipe& point : points) check_same(point, parse(resolved_recipe(point)));
    CHECK(parse(plain).sweep.values.empty());
    CHECK(parse(plain).sweep.label.empty());
    CHECK(parse(plain).sweep.folder.empty());
}

TEST_CASE("several sweeps make all combinations; the matrix changes slowest, the kernels fastest") {
    const std::string text =
        "[kernel]\nkokkos.sweep = ['rows', 'lanes']\n[layout]\nuse = 'plain'\nslice_height.sweep = [1, 2]\n" + shuffle +
        "seed.sweep = [5, 6]\n[matrix]\ngenerate = 'laplace2d'\nnx.sweep = [3, 4]\n";
    const std::vector<Recipe> points = points_of(text);
    REQUIRE(points.size() == 16);
    CHECK(points[0].sweep.label == "nx=3, seed=5, slice_height=1, kokkos=rows");
    CHECK(points[1].sweep.label == "nx=3, seed=5, slice_height=1, kokkos=lanes");
    CHECK(points[2].sweep.label == "nx=3, seed=5, slice_height=2, kokkos=rows");
    CHECK(points[6].sweep.label == "nx=3, seed=6, slice_height=2, kokkos=rows");
    CHECK(points[15].sweep.label == "nx=4, seed=6, slice_height=2, kokkos=lanes");
    CHECK(points[15].sweep.folder == "nx=4,seed=6,slice_height=2,kokkos=lanes");
    CHECK(points[6].stages[0].parameters.integer("seed") == 6);
    CHECK(points[6].layouts.front().parameters.integer("slice_height") == 2);
    CHECK(points[6].layouts.front().kernels.at(Backend::kokkos) == "rows");
    CHECK(points[7].matrix == points[0].matrix);
    CHECK(points[8].matrix != points[0].matrix);
    CHECK(labels_of(text, {.overrides = {"stage.shuffle.seed=7", "layout.slice_height=3", "kernel.kokkos=rows"}}) ==
          Texts{"nx=3", "nx=4"});
}

TEST_CASE("labels name parameters with as few words as are unique") {
    CHECK(labels_of(shuffle + "seed.sweep = [1]\n" + shuffle +
                    "seed.sweep = [2]\n[layout]\nuse='plain'\nslice_height.sweep=[3]\n") ==
          Texts{"shuffle_1.seed=1, shuffle_2.seed=2, slice_height=3"});
    CHECK(labels_of("[[stage]]\nid = 'a'\nuse.sweep = ['shuffle', 'sort']\n[layout]\nuse.sweep = ['plain']\n") ==
          Texts{"a.use=shuffle, layout.use=plain", "a.use=sort, layout.use=plain"});
    CHECK(labels_of("[matrix]\npath.sweep = ['x/a.mtx', 'y/b.mtx']\n" + plain) == Texts{"path=a.mtx", "path=b.mtx"});
    const std::vector<Recipe> alike = points_of("[matrix]\npath.sweep = ['x/a.mtx', 'x_a.mtx', 'y/a.mtx']\n" + plain);
    CHECK(alike[0].sweep.label == "path=x/a.mtx");
    CHECK(alike[0].sweep.folder == "path=x_a.mtx");
    CHECK(alike[1].sweep.folder == "path=x_a.mtx-2");  // unique folders
    CHECK(alike[2].sweep.folder == "path=y_a.mtx");
    const std::vector<Recipe> written = points_of("[matrix]\nrows.sweep = [['1'], ['1 .', '. 1']]\n" + plain);
    CHECK(written[1].sweep.label == "rows=2");
    CHECK(written[1].sweep.values[0].value == ParameterValue(std::int64_t{2}));
    CHECK(std::get<InlineMatrix>(written[1].matrix.from).rows.size() == 2);
}

TEST_CASE("ranges of integers") {
    const auto sweep = [](const std::string& range) {
        return labels_of(plain + "slice_height = { sweep = '" + range + "' }\n");
    };
    CHECK(sweep("32..256*2") == Texts{"slice_height=32", "slice_height=64", "slice_height=128", "slice_height=256"});
    CHECK(sweep("32..255*2") == Texts{"slice_height=32", "slice_height=64", "slice_height=128"});
    CHECK(sweep("1..3") == Texts{"slice_height=1", "slice_height=2", "slice_height=3"});
    CHECK(sweep("8..30+10") == Texts{"slice_height=8", "slice_height=18", "slice_height=28"});
    CHECK(sweep("1..1000").size() == 1000);
    CHECK(sweep("9223372036854775806..9223372036854775807") ==
          Texts{"slice_height=9223372036854775806", "slice_height=9223372036854775807"});
    CHECK(labels_of(shuffle + "seed.sweep = '-9223372036854775808..9223372036854775807+9223372036854775807'\n" + plain) ==
          Texts{"seed=-9223372036854775808", "seed=-1", "seed=9223372036854775806"});
}

TEST_CASE("--sweep: values between commas, ranges, quoted strings; it replaces the recipe's value") {
    const auto sweep = [](const std::string& text, const std::string& option) { return labels_of(text, {.sweeps = {option}}); };
    CHECK(sweep(plain + "slice_height = 3\n", "layout.slice_height=1,8..32*2") ==
          Texts{"slice_height=1", "slice_height=8", "slice_height=16", "slice_height=32"});
    CHECK(sweep(plain + "slice_height.sweep = [3, 4]\n", "layout.slice_height=1,2") ==
          Texts{"slice_height=1", "slice_height=2"});
    CHECK(sweep(plain, "matrix.path=2024,b.mtx") == Texts{"path=2024", "path=b.mtx"});
    const std::string tiles =
        "[[stage]]\nuse = 'split'\nby = 'first_of_row'\n[[stage]]\nuse = 'sort'\n[layout]\nuse.sweep = ['plain']\n";
    const std::string errors = [&] {
        try {
            return labels_of(tiles, {.sweeps = {R"(stage.sort.share="tile 0,1",first)"}}).front();
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
    }();
    CHECK(contains(errors, "error: --sweep stage.sort.share=\"tile 0,1\": stage 'sort' needs share 'tile 0,1'"));
    CHECK(sweep(plain, "matrix.path='a,b.mtx',c.mtx") == Texts{"path=a,b.mtx", "path=c.mtx"});
    CHECK_FALSE(contains(errors, "(with "));  // the option shows the value
}

TEST_CASE("load_recipe refuses a sweep") {
    CHECK(errors_of(plain + "slice_height.sweep = [3, 4]\n") ==
          "error: recipes/test.toml: found a sweep of 2 recipes; expected a single recipe: --set layout.slice_height=VALUE");
    CHECK(parse(plain + "slice_height.sweep = [3, 4]\n", {"layout.slice_height=4"})
              .layouts.front()
              .parameters.integer("slice_height") == 4);
    CHECK(parse(plain + "slice_height.sweep = [3]\n").sweep.label == "slice_height=3");
}

TEST_CASE("points after 2,000 errors of a sweep are not checked") {
    const auto finds_last = [](int unknown_keys) {  // each is an error of every point
        std::string text = "[layout]\nuse = 'plain'\nslice_height.sweep = [1, 2, 4, 0]\n";
        for (int i = 0; i < unknown_keys; ++i) text += "key_" + std::to_string(i) + " = 1\n";
        return contains(errors_of(text), "slice_height: found 0");
    };
    CHECK(finds_last(666));
    CHECK_FALSE(finds_last(667));
}

TEST_CASE("options change those of several recipes that have the setting") {
    const auto load = [](const std::string& text, const RecipeChanges& changes) {
        return parse_points(text, "recipes/test.toml", small_catalogue(), changes, Unmatched::noted);
    };
    const RecipeChanges changes{.overrides = {"stage.shuffle.seed=3", "layout.slice_height=4", "kernel.kokkos=rows"},
                                .sweeps = {"stage.sort.apply=rows,columns"}};
    const LoadedRecipe first = load(shuffle + plain, changes);
    REQUIRE(first.points.size() == 1);
    CHECK(first.points[0].stages[0].parameters.integer("seed") == 3);
    CHECK(first.points[0].layouts.front().parameters.integer("slice_height") == 4);
    CHECK(first.points[0].layouts.front().kernels.at(Backend::kokkos) == "rows");
    CHECK(first.points[0].notes ==
          Texts{"--sweep stage.sort.apply=rows,columns changes nothing here: unknown stage 'sort'; expected one of shuffle"});
    const LoadedRecipe second =
        load("[[stage]]\nuse = 'graph_partition'\nparts = 2\n[[stage]]\nuse = 'split'\n[layout]\nuse = 'cached'\n", changes);
    REQUIRE(second.unmatched.size() == 4);
    CHECK(second.points[0].notes[1] ==
          "--set layout.slice_height=4 changes nothing here: layout 'cached' has no parameters; found 'slice_height'");
    CHECK(second.points[0].notes[2] ==
          "--set kernel.kokkos=rows changes nothing here: layout 'cached' has no kokkos kernel 'rows'; expected one of slices");
    CHECK_THROWS_WITH_AS(check_matched({first, second}),
                         "error: --sweep stage.sort.apply=rows,columns: changes nothing in any of these 2 recipes\n"
                         "  recipes/test.toml: unknown stage 'sort'; expected one of shuffle\n"
                         "  recipes/test.toml: unknown stage 'sort'; expected one of graph_partition, split",
                         RecipeError);
    // A refused value is an error in every recipe that has the key.
    CHECK_THROWS_AS(static_cast<void>(load(plain, {.overrides = {"layout.slice_height=0"}})), RecipeError);
    CHECK_THROWS_AS(static_cast<void>(load(plain, {.overrides = {"stages.a.b=0"}})), RecipeError);
    CHECK_NOTHROW(check_matched({load(shuffle + plain, {.overrides = {"stage.shuffle.seed=3"}}),
                                 load(plain, {.overrides = {"stage.shuffle.seed=3"}})}));
}

TEST_CASE("a reference has the value of another parameter, also of a sweep and of an option") {
    const std::string text = shuffle + "seed.sweep = [5, 6]\n" + plain + "slice_height = { same_as = 'stage.shuffle.seed' }\n";
    const std::vector<Recipe> points = points_of(text);
    REQUIRE(points.size() == 2);
    CHECK(points[0].layouts.front().parameters.integer("slice_height") == 5);
    CHECK(points[1].layouts.front().parameters.integer("slice_height") == 6);
    CHECK(points[1].sweep.label == "seed=6");
    for (const Recipe& point : points) check_same(point, parse(resolved_recipe(point)));
    const auto height = [&](const std::string& override) {
        return points_of(text, {.overrides = {override}}).back().layouts.front().parameters.integer("slice_height");
    };
    CHECK(height("stage.shuffle.seed=7") == 7);
    CHECK(height("layout.slice_height=8") == 8);
    CHECK(height("layout.slice_height={ same_as = 'stage.shuffle.seed' }") == 6);
    CHECK(labels_of(text, {.sweeps = {"stage.shuffle.seed=1..3"}}) == Texts{"seed=1", "seed=2", "seed=3"});
}

TEST_CASE("errors of references") {
    const std::string text = shuffle + "seed = 0\n[layout]\nuse = 'plain'\nslice_height.same_as = ";
    CHECK(contains(
        errors_of(text + "'stage.shuffle.sed'\n"),
        "error: recipes/test.toml:6:1: slice_height: 'stage.shuffle.sed' is not given; expected the name of a value in "
        "this recipe, as in --set\n"));
    CHECK(contains(errors_of(text + "'layout.slice_height'\n"), "slice_height: 'layout.slice_height' is a reference itself; "));
    CHECK(contains(errors_of(text + "3\n"), "slice_height: found a table"));
    // The value is also checked where it is used.
    CHECK(contains(errors_of(text + "'stage.shuffle.seed'\n"), "slice_height: found 0"));
}

}  // namespace workbench
