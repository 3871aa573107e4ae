// Recipes that extend another one.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "recipe/recipes.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

class Folder {
public:
    explicit Folder(const std::string& base) {
        fs::create_directory(folder_.path() / "bases");
        write("bases/base.toml", base);
    }

    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }

    /// A recipe next to the folder of its base.
    [[nodiscard]] Recipe variant(const std::string& text, const RecipeChanges& changes = {}) const {
        write("variant.toml", text);
        return load_recipe(folder_.path() / "variant.toml", small_catalogue(), changes);
    }

    [[nodiscard]] fs::path path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

const std::string extends = "[recipe]\nextends = 'bases/base.toml'\n";

std::string chain_of(const Recipe& recipe) {
    std::string chain;
    for (const RecipeStage& stage : recipe.stages) chain += stage.id + ":" + stage.entry->name + " ";
    return chain + recipe.layouts.front().entry->name;
}

const std::string chain = R"([recipe]
name = "base"
source = "a paper"
[matrix]
path = "a.mtx"
node_size = 3
[[stage]]
use  = "shuffle"
seed = 7
apply = "rows"
[[stage]]
use = "sort"
apply = "rows"
[[stage]]
use = "sort"
apply = "columns"
[layout]
use = "plain"
slice_height = 8
[kernel]
kokkos = "rows"
)";

}  // namespace

TEST_CASE("a recipe with nothing but extends equals its base except for the name") {
    const Folder folder(chain);
    const Recipe recipe = folder.variant(extends);
    CHECK(recipe.name == "variant");
    CHECK(recipe.source == "a paper");
    CHECK(recipe.node_size == 3);
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == folder.path() / "bases" / "a.mtx");  // relative to the base
    CHECK(chain_of(recipe) == "shuffle:shuffle sort_1:sort sort_2:sort plain");
    CHECK(recipe.layouts.front().parameters.integer("slice_height") == 8);
    CHECK(recipe.layouts.front().kernels.at(Backend::kokkos) == "rows");
    CHECK(recipe.bases == std::vector{folder.path() / "bases" / "base.toml"});
    CHECK(recipe.line_of(recipe.stages[0].place) == (folder.path() / "bases" / "base.toml").string() + ":7");
    const std::string resolved = resolved_recipe(recipe);
    CHECK_FALSE(contains(resolved, "extends"));
    check_same(recipe, parse_recipe(resolved, "/elsewhere/resolved.toml", small_catalogue()));
}

TEST_CASE("values are replaced one by one") {
    const Folder folder(chain);
    const Recipe recipe =
        folder.variant(extends +
                       "source = 'me'\n[matrix]\nnode_size = 2\n[[stage]]\nid = 'sort_2'\napply = 'rows'\n"
                       "[[stage]]\nuse = 'shuffle'\nseed = 8\n[layout]\nslice_height = 16\n[kernel]\nkokkos = 'lanes'\n");
    CHECK(recipe.source == "me");
    CHECK(recipe.node_size == 2);
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == folder.path() / "bases" / "a.mtx");
    CHECK(chain_of(recipe) == "shuffle:shuffle sort_1:sort sort_2:sort plain");
    CHECK(recipe.stages[0].parameters.integer("seed") == 8);
    CHECK(recipe.stages[0].parameters.text("apply") == "rows");  // from the base
    CHECK(recipe.stages[1].parameters.text("apply") == "rows");
    CHECK(recipe.stages[2].parameters.text("apply") == "rows");
    CHECK(recipe.layouts.front().parameters.integer("slice_height") == 16);
    CHECK(recipe.layouts.front().kernels.at(Backend::kokkos) == "lanes");
}

TEST_CASE("another use or another matrix drops the base's settings") {
    const Folder folder(chain);
    const Recipe recipe = folder.variant(extends +
                                         "[matrix]\npath = 'b.mtx'\n[[stage]]\nid = 'sort_1'\nuse = 'segments'\nwidth = 4\n"
                                         "[[stage]]\nid = 'sort_2'\nremove = true\n");
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == folder.path() / "b.mtx");
    CHECK(recipe.node_size == 1);
    CHECK(chain_of(recipe) == "shuffle:shuffle sort_1:segments plain");
    const Recipe cached =
        folder.variant(extends +
                       "[[stage]]\nid = 'sort_1'\nuse = 'graph_partition'\nparts = 4\n[[stage]]\nid = 'sort_2'\n"
                       "use = 'split'\n[layout]\nuse = 'cached'\n");
    CHECK(cached.layouts.front().parameters.values().empty());
    CHECK(cached.layouts.front().kernels.empty());
    const Recipe same = folder.variant(extends + "[layout]\nuse = 'plain'\n");
    CHECK(same.layouts.front().parameters.integer("slice_height") == 8);
    CHECK(same.layouts.front().kernels.size() == 1);
}

TEST_CASE("stages are added before, after and at the end, and removed") {
    const Folder folder(chain);
    CHECK(chain_of(folder.variant(extends + "[[stage]]\nid = 'x'\nuse = 'shuffle'\nbefore = 'shuffle'\n"
                                            "[[stage]]\nid = 'y'\nuse = 'shuffle'\nafter = 'shuffle'\n"
                                            "[[stage]]\nid = 'z'\nuse = 'shuffle'\nafter = 'y'\n"
                                            "[[stage]]\nuse = 'segments'\nwidth = 4\n"
                                            "[[stage]]\nid = 'sort_1'\nremove = true\n"
                                            "[[stage]]\nuse = 'sort'\napply = 'rows'\nafter = 'sort_2'\n")) ==
          "x:shuffle shuffle:shuffle y:shuffle z:shuffle sort_2:sort sort:sort segments:segments plain");
    CHECK(
        chain_of(folder.variant(
            extends + "[[stage]]\nuse = 'shuffle'\nremove = true\n[[stage]]\nid = 'sort_2'\nuse = 'sort'\nremove = true\n")) ==
        "sort_1:sort plain");
    CHECK(chain_of(folder.variant(extends + "[[stage]]\nuse = 'sort'\napply = 'rows'\nafter = 'shuffle'\n"
                                            "[[stage]]\nuse = 'sort'\napply = 'rows'\nbefore = 'shuffle'\n")) ==
          "sort_3:sort shuffle:shuffle sort_4:sort sort_1:sort sort_2:sort plain");
    CHECK(contains(
        message_of<RecipeError>([&] { (void)folder.variant(extends + "[[stage]]\nuse = 'shuffle'\nafter = 'sort_1'\n"); }),
        "'shuffle' is the id of the stage on line 7 of "));
}

TEST_CASE("a base may extend another one and be swept; the command line overrides both") {
    const Folder folder(chain);
    folder.write("bases/middle.toml", "[recipe]\nextends = 'base.toml'\n[layout]\nslice_height.sweep = [1, 2]\n");
    folder.write("variant.toml", "[recipe]\nextends = 'bases/middle.toml'\n[[stage]]\nid = 'shuffle'\nseed.sweep = [3, 4]\n");
    const auto load = [&](const RecipeChanges& changes) {
        return load_points(folder.path() / "variant.toml", small_catalogue(), changes).points;
    };
    const std::vector<Recipe> points = load({});
    REQUIRE(points.size() == 4);
    CHECK(points[1].sweep.label == "seed=3, slice_height=2");
    CHECK(points[0].bases.size() == 2);
    CHECK(std::get<MatrixFile>(points[3].matrix.from).path == folder.path() / "bases" / "a.mtx");
    CHECK(load({.overrides = {"stage.shuffle.seed=5", "layout.slice_height=9"}}).size() == 1);
}

TEST_CASE("a recipe from others extends recipes of one folder only") {
    const Folder folder(chain);
    folder.write("outside.toml", "secret = 'of another user'\n");
    folder.write("bases/leading_out.toml", "[recipe]\nextends = '../outside.toml'\n");
    fs::create_symlink("../outside.toml", folder.path() / "bases/link.toml");
    fs::create_symlink("base.toml", folder.path() / "bases/inner_link.toml");
    fs::create_directory(folder.path() / "bases_of_others");
    folder.write("bases_of_others/base.toml", chain);
    const fs::path within = folder.path() / "bases";
    const auto load = [&](const std::string& name) {
        return parse_recipe("[recipe]\nextends = '" + name + "'\n", within / "own.toml", small_catalogue(),
                            {.bases_within = within});
    };
    const std::string outside = "extends: found a file outside the folder " + within.string() + "; expected a recipe in it";
    for (const std::string& name : std::vector<std::string>{"base.toml", "./base.toml", "../bases/base.toml", "inner_link.toml",
                                                            (within / "base.toml").string()}) {
        CAPTURE(name);
        CHECK(chain_of(load(name)) == "shuffle:shuffle sort_1:sort sort_2:sort plain");
    }
    for (const std::string& name :
         std::vector<std::string>{"../outside.toml", (folder.path() / "outside.toml").string(), "link.toml", "leading_out.toml",
                                  "../bases_of_others/base.toml", "/etc/passwd", "../none.toml", "."}) {
        CAPTURE(name);
        const std::string message = message_of<RecipeError>([&] { (void)load(name); });
        CHECK_MESSAGE(contains(message, outside), message);
        CHECK_FALSE(contains(message, "secret"));
    }
    CHECK(contains(message_of<RecipeError>([&] { (void)load("none.toml"); }), "none.toml: no such file"));
    // Without a folder, a recipe of the user may extend any file.
    CHECK(chain_of(parse_recipe("[recipe]\nextends = '../bases_of_others/base.toml'\n", within / "own.toml",
                                small_catalogue())) == "shuffle:shuffle sort_1:sort sort_2:sort plain");
}

TEST_CASE("bases with a byte order mark, and bases that are not recipes") {
    const Folder folder("\xEF\xBB\xBF[layout]\nuse = 'plain'\n");
    CHECK(folder.variant(extends).layouts.front().entry->name == "plain");
    folder.write("bases/base.toml", std::string(2'000'000, '#'));
    CHECK_THROWS_WITH_AS(static_cast<void>(folder.variant(extends)),
                         ("error: " + (folder.path() / "bases/base.toml").string() +
                          ": found a file of more than 1048576 bytes; expected a shorter one")
                             .c_str(),
                         RecipeError);
    for (int i = 0; i < 20; ++i) {
        folder.write("bases/" + std::to_string(i) + ".toml", "[recipe]\nextends = '" + std::to_string(i + 1) + ".toml'\n");
    }
    try {
        static_cast<void>(load_recipe(folder.path() / "bases/0.toml", small_catalogue()));
        FAIL("a chain of 20 recipes was taken");
    } catch (const RecipeError& error) {
        CHECK(contains(error.what(), "bases/15.toml:2:11: found a chain of more than 16 recipes"));
    }
}

}  // namespace workbench
