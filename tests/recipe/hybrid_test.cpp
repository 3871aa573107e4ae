// Several layouts combined with sweeps, recipes that extend another one, and options for several recipes.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "recipe/recipes.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string split = "[[stage]]\nuse = 'split'\nby = 'first_of_row'\n";
const std::string two = split +
                        "[[layout]]\nshare = 'first'\nuse = 'plain'\nslice_height = 8\nkernel.kokkos = 'lanes'\n"
                        "[[layout]]\nshare = 'rest'\nuse = 'plain'\n";

std::string text_of_error(const std::string& text, const RecipeChanges& changes = {}) {
    try {
        static_cast<void>(points_of(text, changes));
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "";
}

/// A recipe that extends one with two layouts.
Recipe variant_of_two(const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "base.toml") << two;
    std::ofstream(folder.path() / "variant.toml") << "[recipe]\nextends = 'base.toml'\n" + text;
    return load_recipe(folder.path() / "variant.toml", small_catalogue());
}

}  // namespace

TEST_CASE("hybrids: settings of layouts are swept by the names of their shares") {
    const std::vector<Recipe> points = points_of(
        split +
            "[[layout]]\nshare = 'first'\nuse = 'plain'\nslice_height.sweep = [2, 4]\nkernel.kokkos.sweep = ['rows', 'lanes']\n"
            "[[layout]]\nshare = 'rest'\nuse = 'plain'\n",
        {.sweeps = {"layout.rest.slice_height=1,3"}});
    REQUIRE(points.size() == 8);
    CHECK(points[0].sweep.values[0].name == "layout.first.slice_height");
    CHECK(points[0].sweep.values[1].name == "layout.first.kernel.kokkos");
    CHECK(points[0].sweep.values[2].name == "layout.rest.slice_height");
    CHECK(points[0].sweep.label == "first.slice_height=2, kokkos=rows, rest.slice_height=1");
    CHECK(points[7].layouts[0].parameters.integer("slice_height") == 4);
    CHECK(points[7].layouts[0].kernels.at(Backend::kokkos) == "lanes");
    CHECK(points[7].layouts[1].parameters.integer("slice_height") == 3);
    for (const Recipe& point : points) check_same(point, parse(resolved_recipe(point)));
    CHECK(text_of_error(split + "[[layout]]\nshare.sweep = ['first']\nuse = 'plain'\n")
              .find("the share of a [[layout]] cannot be swept") != std::string::npos);
}

TEST_CASE("hybrids: a variant replaces, adds and removes layouts by their shares") {
    const Recipe other = variant_of_two("[[layout]]\nshare = 'rest'\nslice_height = 4\nkernel.kokkos = 'rows'\n");
    REQUIRE(other.layouts.size() == 2);
    CHECK(other.layouts[0].parameters.integer("slice_height") == 8);
    CHECK(other.layouts[0].kernels.at(Backend::kokkos) == "lanes");
    CHECK(other.layouts[1].parameters.integer("slice_height") == 4);
    CHECK(other.layouts[1].kernels.at(Backend::kokkos) == "rows");

    const Recipe parted = variant_of_two(
        "[[stage]]\nuse = 'graph_partition'\nparts = 2\nbefore = 'split'\n"
        "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n"
        "[[layout]]\nshare = 'first'\nremove = true\n[[layout]]\nshare = 'rest'\nremove = true\n"
        "[[layout]]\nshare = 'inside'\nuse = 'plain'\n[[layout]]\nshare = 'outside'\nuse = 'plain'\n");
    REQUIRE(parted.layouts.size() == 2);
    CHECK(parted.layouts[0].share == ShareId{ShareKind::inside});
    CHECK(parted.layouts[1].share == ShareId{ShareKind::outside});

    // Kernels belong to the layout that they were chosen for.
    const Recipe same_use = variant_of_two("[[layout]]\nshare = 'first'\nuse = 'plain'\n");
    CHECK(same_use.layouts[0].kernels.at(Backend::kokkos) == "lanes");
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "base.toml") << "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'lanes'\n";
    std::ofstream(folder.path() / "hybrid.toml")
        << "[recipe]\nextends = 'base.toml'\n" + split +
               "[[layout]]\nshare = 'first'\nuse = 'plain'\n[[layout]]\nshare = 'rest'\nuse = 'plain'\n";
    const Recipe split_up = load_recipe(folder.path() / "hybrid.toml", small_catalogue());
    REQUIRE(split_up.layouts.size() == 2);
    for (const RecipeLayout& layout : split_up.layouts) CHECK(layout.kernels.empty());

    const Recipe one = variant_of_two("[[stage]]\nid = 'split'\nremove = true\n[layout]\nuse = 'plain'\n");
    CHECK_FALSE(one.is_hybrid());

    const auto message = [](const std::string& text) {
        try {
            (void)variant_of_two(text);
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    // The kernel of a layout that is replaced is dropped with it: only the need of the new one is not met.
    const std::string replaced = message("[[layout]]\nshare = 'first'\nuse = 'cached'\n");
    CHECK(contains(replaced, "cached"));
    CHECK_FALSE(contains(replaced, "lanes"));
    CHECK(contains(text_of_error(split + "[[layout]]\nuse = 'plain'\n[[layout]]\nshare = 'rest'\nuse = 'plain'\n"),
                   "found one of several layouts without 'share'"));
    CHECK(contains(message("[[layout]]\nshare = 'near'\nremove = true\n"), "no layout for this share"));
    CHECK(contains(message("[[layout]]\nshare = 'rest'\nremove = 3\n"), "remove: found 3, expected true"));
    CHECK(contains(message("[[layout]]\nshare = 'rest'\nremove = true\n"), "no layout stores share 'rest'"));
}

TEST_CASE("hybrids: the recipe, its base, an option or a sweep sets side_by_side") {
    const std::string beside = two + "[kernel]\nside_by_side = true\n";
    CHECK_FALSE(parse(two).side_by_side);
    CHECK(parse(beside).side_by_side);
    check_same(parse(beside), parse(resolved_recipe(parse(beside))));
    CHECK(points_of(two, {.overrides = {"kernel.side_by_side=true"}}).front().side_by_side);
    const std::vector<Recipe> points = points_of(two, {.sweeps = {"kernel.side_by_side=false,true"}});
    REQUIRE(points.size() == 2);
    CHECK_FALSE(points[0].side_by_side);
    CHECK(points[1].side_by_side);

    const TemporaryFolder folder;
    const auto variant = [&](const std::string& text) {
        std::ofstream(folder.path() / "base.toml") << beside;
        std::ofstream(folder.path() / "variant.toml") << "[recipe]\nextends = 'base.toml'\n" + text;
        return load_recipe(folder.path() / "variant.toml", small_catalogue());
    };
    CHECK(variant("[[layout]]\nshare = 'rest'\nslice_height = 4\n").side_by_side);
    CHECK_FALSE(variant("[kernel]\nside_by_side = false\n").side_by_side);
    CHECK_FALSE(variant("[[layout]]\nshare = 'rest'\nslice_height = 4\n[kernel]\nside_by_side = false\n").side_by_side);
    CHECK_FALSE(variant("[[stage]]\nid = 'split'\nremove = true\n[layout]\nuse = 'plain'\n").side_by_side);
    CHECK(
        contains(text_of_error("[layout]\nuse = 'plain'\n[kernel]\nside_by_side = true\n"), "[kernel] has no 'side_by_side'"));
}

TEST_CASE("hybrids: an option that changes nothing in one of several recipes is noted") {
    const auto note = [](const std::string& text, const std::string& option) {
        const LoadedRecipe loaded =
            parse_points(text, "test.toml", small_catalogue(), {.overrides = {option}}, Unmatched::noted);
        REQUIRE(loaded.points.size() == 1);
        REQUIRE(loaded.points.front().notes.size() == 1);
        return loaded.points.front().notes.front();
    };
    CHECK(contains(note(two, "layout.slice_height=4"), "changes nothing here: the recipe has several layouts"));
    CHECK(contains(note(two, "kernel.kokkos=rows"), "changes nothing here: the recipe has several layouts"));
    CHECK(contains(note(two, "layout.near.slice_height=4"), "changes nothing here: no layout has share 'near'"));
    CHECK(contains(note("[layout]\nuse = 'plain'\n", "kernel.side_by_side=true"),
                   "changes nothing here: the recipe has one layout; expected several"));
    CHECK(contains(note("[layout]\nuse = 'plain'\n", "layout.rest.slice_height=4"),
                   "changes nothing here: the recipe has one layout; expected layout.PARAMETER=VALUE"));
}

}  // namespace workbench
