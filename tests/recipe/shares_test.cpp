// Lists and relative lengths, parameters with the same values, options for one of several recipes, kernels of shares, and
// layouts that consist of the parts of a share.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "recipe/recipes.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

StageContract bins_contract(const Parameters&) {
    return {.needs = {.unsplit = true}, .gives_shares = {{ShareKind::bin_0}, {ShareKind::bin_1}}};
}

StageContract halves_contract(const Parameters& parameters) {
    const ShareChoice parent = parameters.share("share");
    return {.needs = {.shares = {parent}},
            .gives_shares = {{ShareKind::first}, {ShareKind::rest}},
            .splits = single_share(name_of(parent))};
}

StageContract unite_contract(const Parameters& parameters) {
    return {.needs = {.shares = {parameters.share("share")}},
            .gives_shares = {{ShareKind::united}},
            .unites = {single_share(parameters.text("share")).value(), ShareId{ShareKind::bin_0}}};
}

/// Stages 'bins', which splits the matrix, 'halves', which splits a share, and 'unite'; layouts 'plain' and 'pair', which
/// consists of shares first and rest.
const Catalogue& catalogue_of_bins() {
    static const Catalogue all = [] {
        Catalogue catalogue = small_catalogue();
        StageEntry bins;
        bins.name = "bins";
        bins.parameters = {declare("bounds", ParameterType::lengths, not_required, between(0, 100), ""),
                           declare("chosen", ParameterType::integers, not_required, between(0, 9), ""),
                           declare("longest", ParameterType::length, not_required, between(1, 100), "")};
        bins.contract = bins_contract;
        StageEntry halves;
        halves.name = "halves";
        halves.parameters = {declare("share", ParameterType::share, required, {.words = {"bin_0"}}, "")};
        halves.contract = halves_contract;
        StageEntry unite = halves;
        unite.name = "unite";
        unite.contract = unite_contract;
        catalogue.stages = {bins, halves, unite};
        LayoutEntry pair;
        pair.name = "pair";
        pair.needs = [](const Parameters&) { return Needs{.shares = {{ShareKind::first}, {ShareKind::rest}}}; };
        LayoutEntry tiles = pair;
        tiles.name = "tiles";
        tiles.needs = [](const Parameters&) { return Needs{.shares = {{ShareKind::tile}}}; };
        LayoutEntry groups = pair;
        groups.name = "groups";
        groups.needs = [](const Parameters&) { return Needs{.cuts = {CutKind::length_group}, .unsplit = true}; };
        groups.rows_of_share = RowsOfShare::all;
        for (const LayoutEntry& layout : {pair, tiles, groups}) catalogue.layouts.push_back(layout);
        return catalogue;
    }();
    return all;
}

LoadedRecipe load(const std::string& text, const RecipeChanges& changes = {}, Unmatched unmatched = Unmatched::refused,
                  const std::filesystem::path& file = "recipes/bins.toml") {
    return parse_points(text, file, catalogue_of_bins(), changes, unmatched);
}

std::string error_of(const std::string& text, const RecipeChanges& changes = {}) {
    try {
        (void)load(text, changes);
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "";
}

const std::string plain_bins = "[[layout]]\nshare = 'bin_0'\nuse = 'plain'\n[[layout]]\nshare = 'bin_1'\nuse = 'plain'\n";

std::string bins(const std::string& settings) { return "[[stage]]\nuse = 'bins'\n" + settings + plain_bins; }

}  // namespace

TEST_CASE("lists are written as lists, as one text, or as one number, in files and options") {
    const auto bounds = [](const std::string& settings, const std::vector<std::string>& overrides = {}) {
        const LoadedRecipe loaded = load(bins(settings), {.overrides = overrides});
        const Recipe& recipe = loaded.points.at(0);
        CHECK(parse_recipe(resolved_recipe(recipe), "recipes/bins.toml", catalogue_of_bins()).stages[0].parameters ==
              recipe.stages[0].parameters);
        return recipe.stages[0].parameters.text("bounds");
    };
    CHECK(bounds("bounds = [4, 16, 64]\n") == "4, 16, 64");
    CHECK(bounds("bounds = [4, '2*mean', 'p95']\n") == "4, 2*mean, p95");
    CHECK(bounds("bounds = ['mean']\n") == "mean");
    CHECK(bounds("bounds = '4, 16'\n") == "4, 16");
    CHECK(bounds("bounds = 4\n") == "4");
    CHECK(bounds("", {"stage.bins.bounds=[1, 2]"}) == "1, 2");
    CHECK(bounds("", {"stage.bins.bounds=1,2,p50"}) == "1,2,p50");
    CHECK(bounds("", {"stage.bins.bounds=7"}) == "7");
}

TEST_CASE("lists are swept") {
    const LoadedRecipe loaded = load(bins("bounds.sweep = [[1, 2], [3], '5, p50']\n"));
    REQUIRE(loaded.points.size() == 3);
    CHECK(loaded.points[0].sweep.label == "bounds=[1, 2]");
    CHECK(std::get<std::string>(loaded.points[1].sweep.values[0].value) == "3");
    CHECK(loaded.points[2].stages[0].parameters.text("bounds") == "5, p50");
    const LoadedRecipe option = load(bins(""), {.sweeps = {"stage.bins.bounds=[1, 2],[3, 4]"}});
    REQUIRE(option.points.size() == 2);
    CHECK(option.points[1].stages[0].parameters.text("bounds") == "3, 4");
    CHECK(contains(error_of(bins("bounds.sweep = [[1, 2], [1, 2]]\n")),
                   "bounds: found [1, 2] twice among the values to try; expected it once"));
}

TEST_CASE("errors of lists and relative lengths") {
    CHECK(contains(error_of(bins("bounds = [4, 'p101']\n")),
                   "bins.toml:3:10: stage 'bins', bounds: found \"4, p101\", expected a list of integers from 0 to 100, or of "
                   "lengths relative to those of the rows, such as [4, \"2*mean\", \"p95\"]"));
    CHECK(contains(error_of(bins("bounds = [4, 101]\n")), "found \"4, 101\", expected a list"));
    CHECK(contains(error_of(bins("bounds = []\n")), "found \"\", expected a list"));
    CHECK(contains(error_of(bins("bounds = [4, 1.5]\n")), "found a list, expected a list of integers"));
    CHECK(contains(error_of(bins("chosen = [4, 'p50']\n")),
                   "chosen: found \"4, p50\", expected a list of integers from 0 to 9, such as [4, 16, 64]"));
    CHECK(
        contains(error_of(bins("longest = '2*men'\n")),
                 "longest: found \"2*men\", expected an integer from 1 to 100, or a length relative to those of the rows, such "
                 "as \"2*mean\" or \"p95\""));
    CHECK(contains(error_of(bins("longest = 0\n")), "longest: found 0, expected an integer from 1 to 100"));
    CHECK(contains(error_of(bins("longest = [4]\n")), "longest: found a list, expected an integer from 1 to 100"));
    CHECK(load(bins("longest = '2*mean'\n")).points[0].stages[0].parameters.text("longest") == "2*mean");
    CHECK(load(bins("longest = 3\n")).points[0].stages[0].parameters.integer("longest") == 3);
}

TEST_CASE("a sweep of several parameters gives them the same values") {
    const std::string text = bins("longest = 7\n");
    const LoadedRecipe loaded = load(text, {.sweeps = {"stage.bins.longest+layout.bin_0.slice_height=2,4"}});
    REQUIRE(loaded.points.size() == 2);
    for (const int i : {0, 1}) {
        CHECK(loaded.points[i].stages[0].parameters.integer("longest") == 2 + 2 * i);
        CHECK(loaded.points[i].layouts[0].parameters.integer("slice_height") == 2 + 2 * i);
        CHECK(loaded.points[i].layouts[1].parameters.integer("slice_height") == 32);
    }
    CHECK(loaded.points[1].sweep.label == "longest=4");
    REQUIRE(loaded.points[1].sweep.values.size() == 2);
    CHECK(loaded.points[1].sweep.values[1].name == "layout.bin_0.slice_height");
    CHECK(loaded.points[1].sweep.values[1].value == ParameterValue(std::int64_t{4}));
    CHECK(load(text, {.sweeps = {"layout.bin_1.slice_height+layout.bin_0.slice_height=8..32*2"}}).points.size() == 3);
    CHECK(contains(error_of(text, {.sweeps = {"stage.bins.longest+=2,4"}}), "expected WHAT=VALUE,VALUE,..."));
    // The first one decides how a value is read: a file may be named 8.
    CHECK(contains(error_of(text, {.sweeps = {"matrix.path+layout.bin_0.slice_height=8"}}), "slice_height: found \"8\", "));
    CHECK(contains(error_of(text, {.sweeps = {"stage.bins.longest+layout.bin_2.slice_height=2,4"}}),
                   "no layout has share 'bin_2'"));
    CHECK(contains(error_of(text, {.sweeps = {"stage.bins.longest+layout.bin_0.slice_height=2,0"}}),
                   "slice_height: found 0, expected an integer of at least 1 (rows)"));
    CHECK(contains(error_of(text, {.overrides = {"stage.bins.longest+layout.bin_0.slice_height=2"}}),
                   "expected stage.ID.PARAMETER=VALUE"));
}

TEST_CASE("a parameter of a layout that is that of a stage follows every change of it") {
    const std::string text =
        "[[stage]]\nuse = 'bins'\nlongest = 7\n"
        "[[layout]]\nshare = 'bin_0'\nuse = 'plain'\nslice_height = { same_as = 'stage.bins.longest' }\n"
        "[[layout]]\nshare = 'bin_1'\nuse = 'plain'\n";
    const auto heights = [&](const RecipeChanges& changes) {
        std::vector<std::int64_t> heights;
        for (const Recipe& point : load(text, changes).points) {
            heights.push_back(point.layouts[0].parameters.integer("slice_height"));
        }
        return heights;
    };
    CHECK(heights({}) == std::vector<std::int64_t>{7});
    CHECK(heights({.overrides = {"stage.bins.longest=9"}}) == std::vector<std::int64_t>{9});
    CHECK(heights({.sweeps = {"stage.bins.longest=2..4"}}) == std::vector<std::int64_t>{2, 3, 4});
    const RecipeChanges tied{.overrides = {"layout.bin_0.slice_height={ same_as = 'stage.bins.longest' }"},
                             .sweeps = {"stage.bins.longest=5,6"}};
    CHECK(load(bins("longest = 7\n"), tied).points[1].layouts[0].parameters.integer("slice_height") == 6);
}

TEST_CASE("an option with the name of a recipe changes only that recipe") {
    const std::string named = "[recipe]\nname = 'Bins by length'\n" + bins("longest = 7\n");
    const auto longest = [&](const std::vector<std::string>& overrides) {
        return load(named, {.overrides = overrides}).points[0].stages[0].parameters.integer("longest");
    };
    CHECK(longest({"bins:stage.bins.longest=3"}) == 3);
    CHECK(longest({"Bins by length:stage.bins.longest=4"}) == 4);
    CHECK(error_of(named, {.overrides = {"other:stage.bins.longest=3"}}) ==
          "error: --set other:stage.bins.longest=3: this recipe is 'bins'; expected that name, or none, before the colon");

    const RecipeChanges changes{.overrides = {"bins:stage.bins.longest=3"}, .sweeps = {"other:layout.bin_0.slice_height=2,4"}};
    const LoadedRecipe one = load(named, changes, Unmatched::noted);
    const LoadedRecipe other = load(bins("longest = 7\n"), changes, Unmatched::noted, "recipes/other.toml");
    CHECK(one.points.size() == 1);
    CHECK(one.points[0].stages[0].parameters.integer("longest") == 3);
    CHECK(one.points[0].notes.empty());
    CHECK(other.points.size() == 2);
    CHECK(other.points[0].stages[0].parameters.integer("longest") == 7);
    CHECK(other.points[0].notes.empty());
    CHECK_NOTHROW(check_matched({one, other}));

    const RecipeChanges wrong{.overrides = {"bins:stage.bins.shortest=3"}};
    CHECK_THROWS_WITH_AS(
        check_matched({load(named, wrong, Unmatched::noted), load(bins(""), wrong, Unmatched::noted, "recipes/other.toml")}),
        "error: --set bins:stage.bins.shortest=3: changes nothing in any of these 2 recipes\n"
        "  recipes/bins.toml: stage 'bins' has no 'shortest'; expected one of bounds, chosen, longest\n"
        "  recipes/other.toml: this recipe is 'other'; expected that name, or none, before the colon",
        RecipeError);
}

TEST_CASE("a kernel next to the recipe can be that of a share") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "mine.cpp") << "\n";
    const auto recipe = [&](const std::string& keys, const RecipeChanges& changes = {}) {
        return load("[[stage]]\nuse = 'bins'\n[[layout]]\nshare = 'bin_0'\nuse = 'plain'\n" + keys +
                        "[[layout]]\nshare = 'bin_1'\nuse = 'plain'\n",
                    changes, Unmatched::refused, folder.path() / "a.toml")
            .points.at(0);
    };
    const Recipe one = recipe("kernel.cpu_source = 'mine.cpp'\nkernel.zero_y = true\n");
    const KernelSource expected{.file = folder.path() / "mine.cpp", .layout = "plain", .zero_y = true};
    CHECK(one.layouts[0].sources == std::vector{expected});
    CHECK(one.layouts[1].sources.empty());
    check_same(one, parse_recipe(resolved_recipe(one), "elsewhere.toml", catalogue_of_bins()));
    const std::string option = "layout.bin_1.kernel.cpu_source=" + (folder.path() / "mine.cpp").string();
    CHECK(recipe("", {.overrides = {option}}).layouts[1].sources.size() == 1);

    const auto error = [&](const std::string& keys) -> std::string {
        try {
            (void)recipe(keys);
        } catch (const RecipeError& wrong) {
            return wrong.what();
        }
        return "";
    };
    CHECK(contains(error("kernel.cpu_source = 'none.cpp'\n"), "a.toml:6:21: [kernel], cpu_source: no file"));
    CHECK(contains(error("kernel.threads = 64\n"), "[kernel], threads: no kernel next to the recipe"));
    CHECK(contains(error("kernel.cpu_source = 'mine.cpp'\nkernel.kokkos = 'rows'\n"),
                   "found kernels of kokkos and cpu_source for one share on the host; expected one of them"));
}

TEST_CASE("a layout that consists of shares stores the parts of a share") {
    const std::string split = "[[stage]]\nuse = 'bins'\n[[stage]]\nuse = 'halves'\nshare = 'bin_0'\n";
    const std::string other = "[[layout]]\nshare = 'bin_1'\nuse = 'plain'\n";
    const std::string pair = "[[layout]]\nshare = 'bin_0'\nuse = 'pair'\n";
    CHECK(load(split + pair + other).points[0].layouts[0].share == ShareId{ShareKind::bin_0});
    CHECK(contains(error_of(split + pair + other + "[[layout]]\nshare = 'bin_0/rest'\nuse = 'plain'\n"),
                   "share 'bin_0/rest' is stored twice; the layout on line 6 stores it already"));
    CHECK(contains(error_of("[[stage]]\nuse = 'bins'\n" + pair + other),
                   "layout 'pair' needs shares 'bin_0/first', 'bin_0/rest', but 'bins' (line 1) makes only 'bin_0', 'bin_1'"));
    CHECK(contains(error_of(split + other + "[[layout]]\nshare = 'bin_0'\nuse = 'tiles'\n"),
                   "layout 'tiles' consists of shares itself (tile); it cannot store share 'bin_0'"));
    CHECK(contains(error_of("[[stage]]\nuse = 'bins'\n" + other + "[[layout]]\nshare = 'bin_0'\nuse = 'groups'\n"),
                   "layout 'groups' needs length groups, which no earlier stage provides"));
}

TEST_CASE("a stage that unites shares replaces them") {
    const std::string unite =
        "[[stage]]\nuse = 'bins'\n[[stage]]\nuse = 'unite'\nshare = 'bin_1'\n"
        "[[layout]]\nshare = 'united'\nuse = 'plain'\n";
    CHECK(load(unite).points[0].layouts.size() == 1);
    CHECK(contains(error_of(unite + "[[layout]]\nshare = 'bin_0'\nuse = 'plain'\n"),
                   "layout 'plain' needs share 'bin_0', but 'unite' (line 3) makes only 'united'"));
    CHECK(contains(error_of("[[stage]]\nuse = 'bins'\n[[stage]]\nuse = 'halves'\nshare = 'bin_0'\n"
                            "[[stage]]\nuse = 'unite'\nshare = 'bin_1'\n[[stage]]\nuse = 'unite'\nshare = 'bin_0/first'\n" +
                            plain_bins),
                   "recipes/bins.toml:10:7: stage 'unite' makes share 'united', which exists already"));
    // A stage that is not known may have changed the shares.
    const std::string unknown = error_of(
        "[[stage]]\nuse = 'bins'\n[[stage]]\nuse = 'nothing'\n[[stage]]\nuse = 'unite'\n"
        "share = 'bin_1'\n[[stage]]\nuse = 'unite'\nshare = 'bin_0'\n" +
        plain_bins);
    CHECK(contains(unknown, "unknown stage 'nothing'"));
    CHECK_FALSE(contains(unknown, "exists already"));
}

}  // namespace workbench
