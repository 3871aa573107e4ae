// Spaces: recipes with alternatives.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/input/inline_matrix.hpp"
#include "pipeline/recipe/space.hpp"
#include "recipe/recipes.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

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

TEST_CASE("a list is a list of values, except for parameters that take lists") {
    CHECK(space_of("[layout]\nuse = ['plain', 'cached']\n").count() == 1);
    CHECK(space_of("[layout]\nuse = 'plain'\nslice_height = [1, 2, 4]\n").count() == 3);
    CHECK(space_of("[layout]\nuse = 'plain'\nslice_height.sweep = [1, 2]\n").count() == 2);
    CHECK(space_of("[layout]\nuse = { use = 'plain', slice_height = { sweep = '1..3' } }\n").count() == 3);
    CHECK(space_of("[layout]\nuse = 'plain'\n").places().front().options.size() == 1);
    CHECK(space_of("[layout]\nuse = 'plain'\n").places().front().options.front().values.empty());
}

TEST_CASE("a list without values is refused") {
    const auto error_of = [](const std::string& text) { return message_of<RecipeError>([&] { (void)space_of(text); }); };
    for (const std::string line :
         {"use = []\n", "use = 'plain'\nslice_height = []\n", "use = ['cached', { use = 'plain', slice_height = [] }]\n"}) {
        const std::string error = error_of("[layout]\n" + line);
        CHECK_MESSAGE(error.find(": found an empty list, expected values to try") != std::string::npos, error);
    }
}

TEST_CASE("keys beside use belong to the alternatives that declare them, whose own keys come first") {
    const Space space = space_of(R"(
[[stage]]
id = "order"
use = [{ use = "shuffle", seed = 7 }, { use = "sort", apply = "symmetric" }, "segments"]
seed = 3
apply = ["rows", "columns"]
width = 5
[layout]
use = "plain"
)");
    CHECK(names_of_points(space) ==
          Names{"shuffle apply=rows, plain", "shuffle apply=columns, plain", "sort, plain", "segments, plain"});
    const Recipe recipe = space.recipe(space.point(1));
    CHECK(recipe.stages[0].id == "order");
    CHECK(recipe.stages[0].parameters.integer("seed") == 7);
    CHECK(recipe.stages[0].parameters.text("apply") == "columns");
    CHECK(space.recipe(space.point(2)).stages[0].parameters.text("apply") == "symmetric");
    CHECK(space.recipe(space.point(3)).stages[0].parameters.integer("width") == 5);
    CHECK(space.places()[0].options[1].label == "shuffle apply=columns");
    CHECK(space.places()[0].options[1].values.at("use") == ParameterValue(std::string("shuffle")));
    CHECK(space.places()[0].options[1].values.at("apply") == ParameterValue(std::string("columns")));
}

TEST_CASE("conditions on the matrix") {
    const auto count = [](const std::string& stage, const std::optional<SpaceFacts>& facts) {
        const std::string text = "[[stage]]\nuse = 'shuffle'\n" + stage + "[layout]\nuse = 'plain'\n";
        const Space space = space_of(text, facts ? &*facts : nullptr);
        CHECK(space.depends_on_matrix() == (stage.find("when") != std::string::npos));
        return names_of_points(space);
    };
    const Names without{"plain"};
    const Names with{"shuffle, plain"};
    const Names both{"plain", "shuffle, plain"};
    CHECK(count("", std::nullopt) == with);
    CHECK(count("optional = true\n", std::nullopt) == both);
    CHECK(count("optional = false\n", std::nullopt) == with);
    // A stage that may not be left out is left out where its condition is violated.
    const std::string large = "when = 'rows > 1000'\n";
    CHECK(count(large, std::nullopt) == with);
    CHECK(count(large, SpaceFacts{}) == with);
    CHECK(count(large, SpaceFacts{{"rows", 1001}}) == with);
    CHECK(count(large, SpaceFacts{{"rows", 1000}}) == without);
    CHECK(count(large + "optional = true\n", SpaceFacts{{"rows", 1001}}) == both);
    CHECK(count(large + "optional = true\n", SpaceFacts{{"rows", 1000}}) == without);
    const SpaceFacts facts{{"rows", 5}, {"mean_row", 2.5}, {"square", 1}};
    const auto holds = [&](const std::string& condition) { return count("when = \"" + condition + "\"\n", facts) == with; };
    CHECK(holds("square"));
    CHECK_FALSE(holds("not square"));
    CHECK(holds("square = true and square != false"));
    CHECK_FALSE(holds("square = false"));
    CHECK(holds("rows = 5 and rows <= 5 and rows >= 5.0 and rows != 4"));
    CHECK_FALSE(holds("rows < 5 or rows > 5 or rows != 5"));
    CHECK(holds("mean_row > 2.4 and mean_row < 25e-1 or rows = +5"));
    CHECK(holds("rows = 1 and rows = 2 or rows = 5"));  // `and` binds tighter
    CHECK_FALSE(holds("rows = 1 and (rows = 2 or rows = 5)"));
    CHECK_FALSE(holds("not rows = 5 and rows = 6"));  // `not` binds tightest
    CHECK(holds("not (rows = 5 and rows = 6)"));
    CHECK(holds("not not rows = 5"));
    CHECK(holds("not\\trows = 6\\r\\nand\\nrows = 5"));
    // `columns` is unknown here: a condition holds unless what is known decides it.
    CHECK(holds("columns > 5"));
    CHECK(holds("not columns > 5"));
    CHECK(holds("columns > 5 and rows = 5"));
    CHECK_FALSE(holds("columns > 5 and rows = 6"));
    CHECK(holds("columns > 5 or rows = 6"));
    CHECK(contains(message_of<RecipeError>([&] { (void)holds("'rows' = 5"); }),
                   "found 'rows'; expected the name of a fact or of a choice"));
}

TEST_CASE("conditions on the choices at earlier places") {
    const std::string text = R"(
[[stage]]
id = "order"
optional = true
use = ["shuffle", { use = "graph_partition", parts = [16, 132, "auto"], refine = [true, false] }]
[[stage]]
use = "segments"
width = 1
when = ")";
    const auto with_segments = [&](const std::string& condition) {
        Names names;
        for (const std::string& name : names_of_points(space_of(text + condition + "\"\n[layout]\nuse = 'plain'\n"))) {
            const std::size_t end = name.find(", segments");
            if (name.starts_with("segments")) names.push_back("none");
            if (end != std::string::npos) names.push_back(name.substr(0, end));
        }
        return names;
    };
    CHECK(with_segments("stage.order = none") == Names{"none"});
    CHECK(with_segments("stage.order = 'none' or stage.order.use = shuffle") == Names{"none", "shuffle"});
    CHECK(with_segments("stage.order.parts >= 132 and stage.order.refine") == Names{"graph_partition parts=132 refine=true"});
    CHECK(with_segments("stage.order.parts = auto and not stage.order.refine") ==
          Names{"graph_partition parts=auto refine=false"});
    // A comparison with a value that the choice lacks is false; default values count.
    CHECK(with_segments("stage.order.parts != 16 and stage.order.refine = false").size() == 2);
    CHECK(with_segments("stage.order.seed = 1") == Names{"shuffle"});
    CHECK(with_segments("stage.order.seed != 1") == Names{});
    CHECK(with_segments("not stage.order.seed = 1").size() == 7);
}

TEST_CASE("alternatives and layouts have conditions; equal ones under two conditions are one") {
    const std::string stage = "[[stage]]\nid = 'order'\noptional = true\nuse = ['shuffle', 'sort']\n";
    CHECK(names_of_points(space_of(stage + "[layout]\nuse = { use = 'plain', when = 'stage.order = sort' }\n")) ==
          Names{"sort, plain"});
    CHECK(names_of_points(space_of(stage + "[[layout]]\nuse = 'plain'\nwhen = 'stage.order = sort'\n"
                                           "[[layout]]\nuse = 'plain'\nwhen = 'stage.order = none'\n"
                                           "[[layout]]\nuse = 'plain'\nslice_height = 8\nwhen = 'stage.order = none'\n")) ==
          Names{"plain", "plain slice_height=8", "sort, plain"});
}

TEST_CASE("contracts leave out combinations that are not legal") {
    // sort within a partition needs one; after a partition, a sort of all rows would destroy it.
    const std::string text = R"(
[[stage]]
id = "order"
optional = true
use = ["shuffle", { use = "graph_partition", parts = [16, 132] }]
[[stage]]
id = "sort"
optional = true
use = { use = "sort", within = ["all", "partition"] }
[[stage]]
id = "split"
optional = true
use = { use = "split", by = ["inside_partition", "first_of_row"] }
[[stage]]
id = "storage"
optional = true
use = "sort"
share = "outside"
)";
    // Chains before the split: none, shuffle: 2 with sort or none; each partition: 1 with sort within, 1 without: 8 in all.
    const Space plain = space_of(text + "[layout]\nuse = 'plain'\nslice_height = [32, 64]\n");
    CHECK(plain.count() == 8 * 2);
    // Split inside_partition after the 4 chains that end with a partition, with and without a sorted share.
    const Space cached = space_of(text + "[layout]\nuse = ['plain', 'cached']\n");
    CHECK(cached.count() == 8 + 4 * 2);
    const Space hybrids = space_of(text + R"(
[[layout]]
use = ["plain", "cached"]
[[layout]]
share = "inside"
use = "plain"
slice_height = [32, 64]
[[layout]]
share = "outside"
use = "plain"
slice_height = [8, 16, 32]
[[layout]]
share = "first"
use = "plain"
[[layout]]
share = "rest"
use = "plain"
slice_height = [8, 16]
kernel.kokkos = ["rows", "lanes"]
)");
    // The 8 chains may also be split by rows: 1 layout for the first nonzeros, 4 for the others.
    CHECK(hybrids.count() == (8 + 4 * 2) + 4 * 2 * (2 * 3) + 8 * 4);
    const std::vector<SpacePlace>& places = hybrids.places();
    REQUIRE(places.size() == 9);
    CHECK(places[4].name == "layout");
    CHECK(places[6].name == "layout.outside");
    CHECK(places[6].options.size() == 4);
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < hybrids.count(); ++i) {
        const SpacePoint point = hybrids.point(i);
        CHECK(hybrids.is_legal(point));
        CHECK(hybrids.number_of(point) == i);
        Recipe recipe = hybrids.recipe(point);
        CHECK(names.insert(recipe.name).second);
        check_same(parse(resolved_recipe(recipe)), recipe);
    }
    CHECK(names.contains("split first_of_row, first: plain, rest: plain sh8 lanes"));
}

TEST_CASE("illegal points are recognised") {
    const Space space = space_of("[[stage]]\nuse = 'sort'\nwithin = ['all', 'partition']\n[layout]\nuse = 'plain'\n");
    CHECK(space.count() == 1);
    CHECK(space.is_legal({0, 0}));
    CHECK_FALSE(space.is_legal({1, 0}));
    CHECK_FALSE(space.is_legal({0, 1}));
    CHECK_FALSE(space.is_legal({0}));
    CHECK_FALSE(space.is_legal({0, 0, 0}));
    CHECK_THROWS_AS(static_cast<void>(space.recipe({1, 0})), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(space.point(1)), std::out_of_range);
}

TEST_CASE("a matrix that is not square leaves out what needs a square one") {
    const std::string text =
        "[[stage]]\nid = 'order'\noptional = true\nuse = ['shuffle', { use = 'shuffle', apply = 'rows' },"
        "{ use = 'graph_partition', parts = 8 }]\n[layout]\nuse = 'plain'\n";
    const SpaceFacts square{{"square", 1}};
    const SpaceFacts other{{"square", 0}};
    CHECK(space_of(text, &square).count() == 4);
    CHECK(names_of_points(space_of(text, &other)) == Names{"plain", "shuffle apply=rows, plain"});
}

TEST_CASE("parameters tied to those of an earlier stage") {
    const Space space = space_of(R"(
[[stage]]
id = "cuts"
optional = true
use = "segments"
width = [4, 8]
[layout]
use = [{ use = "plain", slice_height = { same_as = "stage.cuts.width" } }, { use = "plain", slice_height = 5 }]
)");
    // Without the stage there is no value to take.
    REQUIRE(space.count() == 1 + 2 * 2);
    CHECK(names_of_points(space) == Names{"plain slice_height=5", "segments width=4, plain",
                                          "segments width=4, plain slice_height=5", "segments width=8, plain",
                                          "segments width=8, plain slice_height=5"});
    CHECK(space.recipe(space.point(1)).layouts.front().parameters.integer("slice_height") == 4);
    CHECK(space.recipe(space.point(3)).layouts.front().parameters.integer("slice_height") == 8);
    CHECK(space.neighbours(space.point(1)) == std::vector{space.point(3), space.point(2)});
}

TEST_CASE("neighbours differ in one place, those with one other value first") {
    const Space space = space_of(R"(
[[stage]]
id = "order"
optional = true
use = ["shuffle", { use = "graph_partition", parts = [16, 132], method = ["kway", "recursive"] }]
[layout]
use = "plain"
slice_height = [32, 64]
)");
    const auto names = [&](std::uint64_t number) {
        Names found;
        for (const SpacePoint& point : space.neighbours(space.point(number))) found.push_back(space.recipe(point).name);
        return found;
    };
    CHECK(space.count() == 12);
    CHECK(space.recipe(space.point(5)).name == "graph_partition parts=16 method=kway, plain slice_height=64");
    CHECK(names(5) == Names{"graph_partition parts=16 method=recursive, plain slice_height=64",
                            "graph_partition parts=132 method=kway, plain slice_height=64",
                            "graph_partition parts=16 method=kway, plain slice_height=32", "plain slice_height=64",
                            "shuffle, plain slice_height=64",
                            "graph_partition parts=132 method=recursive, plain slice_height=64"});
}

TEST_CASE("neighbours of a plain point are hybrids that differ in one stage, and vice versa") {
    const std::string text = R"(
[[stage]]
id = "parts"
use = "split"
by = "first_of_row"
optional = true
[[layout]]
use = "plain"
slice_height = [32, 64]
when = "stage.parts = none"
[[layout]]
share = "first"
use = "plain"
[[layout]]
share = "rest"
use = "plain"
slice_height = [32, 64]
)";
    const auto names_in = [](const Space& space, const std::string& of) {
        Names found;
        for (std::uint64_t number = 0; number < space.count(); ++number) {
            if (space.recipe(space.point(number)).name != of) continue;
            for (const SpacePoint& point : space.neighbours(space.point(number))) found.push_back(space.recipe(point).name);
        }
        return found;
    };
    const Space space = space_of("[[stage]]\nuse = 'shuffle'\noptional = true\n" + text);
    const auto names = [&](const std::string& of) { return names_in(space, of); };
    CHECK(space.count() == 8);
    const std::string plain = "shuffle, plain slice_height=";
    const std::string hybrid = "shuffle, split, first: plain, rest: plain slice_height=";
    CHECK(names(plain + "32") == Names{plain + "64", "plain slice_height=32", hybrid + "32", hybrid + "64"});
    CHECK(names(hybrid + "32") ==
          Names{hybrid + "64", "split, first: plain, rest: plain slice_height=32", plain + "32", plain + "64"});
    CHECK(names_in(space_of(text), "plain slice_height=32") == Names{"plain slice_height=64",
                                                                     "split, first: plain, rest: plain slice_height=32",
                                                                     "split, first: plain, rest: plain slice_height=64"});
    const Space same_stages = space_of(
        "[[stage]]\nuse = 'graph_partition'\nparts = 8\n[[stage]]\nuse = 'split'\nby = 'inside_partition'\n[[layout]]\nuse = "
        "'cached'\n[[layout]]\nshare = 'inside'\nuse = 'plain'\n[[layout]]\nshare = 'outside'\nuse = 'plain'\n");
    REQUIRE(same_stages.count() == 2);
    CHECK(same_stages.neighbours(same_stages.point(0)) == std::vector<SpacePoint>{same_stages.point(1)});
    CHECK(same_stages.neighbours(same_stages.point(1)) == std::vector<SpacePoint>{same_stages.point(0)});
}

TEST_CASE("names have at most 80 characters") {
    std::string text;
    for (int i = 0; i < 6; ++i) {
        text += "[[stage]]\nid = 'order" + std::to_string(i) +
                "'\nuse = 'graph_partition'\nparts = [132, 264]\nmethod = ['kway', 'recursive']\n";
    }
    const Space space = space_of(text + "[layout]\nuse = 'plain'\n");
    CHECK(space.count() == 4096);
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < space.count(); ++i) names.insert(space.recipe(space.point(i)).name);
    CHECK(names.size() == space.count());
    for (const std::string& name : names) CHECK(name.size() <= 80);
    CHECK(space.recipe(space.point(7)).name ==
          "grap_part p132 kway, grap_part p132 kway, grap_part p132 kway, grap_part p... #7");
}

TEST_CASE("the header, the matrix and the command line") {
    const std::string text =
        "name = 'mine'\nsource = 'a test'\nprepare = 'gpu'\n[matrix]\npath = 'a.mtx'\nnode_size = 2\n"
        "[[stage]]\nid = 'order'\nuse = ['sort', { use = 'shuffle', seed = [1, 2] }]\n[kernel]\nside_by_side = true\n"
        "[layout]\nuse = 'plain'\n";
    const Space space = space_of(text);
    CHECK(space.name() == "mine");
    CHECK(space.node_size() == 2);
    CHECK(space.count() == 3);
    CHECK(std::get<MatrixFile>(space.matrix().from).path == "spaces/a.mtx");
    const Recipe recipe = space.recipe(space.point(0));
    CHECK(recipe.source == "a test");
    CHECK(recipe.prepare == "gpu");
    CHECK_FALSE(recipe.side_by_side);  // one layout
    CHECK(recipe.line_of(recipe.stages[0].place) == "spaces/test.toml:8");

    const Space changed = space_of(text, nullptr,
                                   {.generate = "laplace2d:nx=3",
                                    .overrides = {"matrix.node_size=3", "stage.order.seed=5", "mine:stage.order.apply=rows"}});
    CHECK(changed.node_size() == 3);
    CHECK(std::holds_alternative<GeneratedMatrix>(changed.matrix().from));
    CHECK(names_of_points(changed) == Names{"sort, plain", "shuffle, plain"});
    CHECK(changed.recipe(changed.point(1)).stages[0].parameters.integer("seed") == 5);
    CHECK(names_of_points(space_of(text, nullptr, {.overrides = {"stage.order.use=shuffle"}})) == Names{"shuffle, plain"});
}

TEST_CASE("files that are spaces, and commands for recipes that are given one") {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
        return folder.path() / name;
    };
    const std::string text = "[space]\n[layout]\nuse = 'plain'\n";
    const std::filesystem::path file = write("a.toml", text);
    CHECK(is_space(file));
    CHECK(load_space(file, small_catalogue()).count() == 1);
    CHECK_FALSE(is_space(write("b.toml", "[recipe]\n[layout]\nuse = 'plain'\n")));
    CHECK_FALSE(is_space(write("c.toml", "[space\n")));
    CHECK_FALSE(is_space(write("d.toml", "space = 1\n")));
    CHECK_FALSE(is_space(folder.path()));
    CHECK_FALSE(is_space(folder.path() / "none.toml"));
    CHECK(errors_of(text) ==
          "error: recipes/test.toml:1:2: found a space of recipes; expected a recipe: 'workbench check', 'choose' and "
          "'bench' take spaces\n  1 | [space]\n    |  ^");
}

TEST_CASE("a space names recipes that a search tries first: files, folders, or a list of them") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "more");
    const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder.path() / name) << text; };
    write("a.toml", "[recipe]\n[layout]\nuse = 'plain'\n");
    write("more/c.toml", "[recipe]\n[layout]\nuse = 'plain'\nslice_height = { sweep = [2, 4] }\n");
    write("more/b.toml", "[recipe]\n[[stage]]\nuse = 'shuffle'\n[layout]\nuse = 'plain'\n");
    write("more/notes.txt", "no recipe");
    const auto start_of = [&](const std::string& start, bool readable = true) {
        const Space space = parse_space("[space]\nstart = " + start + "\n[layout]\nuse = 'plain'\n",
                                        folder.path() / (readable ? "space.toml" : "none/space.toml"), small_catalogue());
        CHECK(space.count() == 1);
        Names found;
        for (const Recipe& recipe : space.start()) found.push_back(fmt::format("{} {}", recipe.name, recipe.stages.size()));
        return found;
    };
    CHECK(space_of("[layout]\nuse = 'plain'\n").start().empty());
    CHECK(start_of("'a.toml'") == Names{"a 0"});
    CHECK(start_of("'more'") == Names{"b 1", "c 0", "c 0"});
    CHECK(start_of("['more/b.toml', 'a.toml']") == Names{"b 1", "a 0"});
    const auto error_of = [&](const std::string& start) {
        try {
            (void)start_of(start);
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    CHECK(error_of("['a.toml', 'none']")
              .find(":2:20: [space], start: 'none' is neither a recipe nor a folder of recipes; expected one, relative to the "
                    "space") != std::string::npos);
    CHECK(error_of("3").find(":2:9: [space], start: found 3, expected a file or a folder of recipes, or a list of them") !=
          std::string::npos);
    write("more/b.toml", "[recipe]\n[layout]\nuse = 'cashed'\n");
    CHECK(error_of("'more'").find("b.toml:3:7: ") != std::string::npos);
}

TEST_CASE("facts of a matrix") {
    const SpaceFacts facts = facts_of(csr_from_rows(Names{"1 2 . .", "3 4 . .", ". . . .", "1 1 1 1", ". 1 . ."}), 1);
    const SpaceFacts expected{{"rows", 5},           {"columns", 4},    {"nonzeros", 9},
                              {"node_size", 1},      {"square", 0},     {"longest_row", 4},
                              {"shortest_row", 0},   {"mean_row", 1.8}, {"row_deviation", std::sqrt(25.0 / 5 - 1.8 * 1.8)},
                              {"empty_rows", 0.2},   {"skew", 4 / 1.8}, {"twin_rows", 0.25},
                              {"distinct_values", 4}};
    REQUIRE(facts.size() == expected.size());
    for (const auto& [name, value] : expected) {
        CAPTURE(name);
        CHECK(facts.at(name) == doctest::Approx(value));
    }
    CHECK(facts_of(csr_from_rows(Names{"1"}), 1).at("square") == 1);
    // With this many rows, every third one is compared with the row before it, which has the same columns.
    CsrMatrix large;
    large.rows = large.columns = 200'002;
    for (Index row = 0; row < large.rows; ++row) {
        large.column_indices.push_back(row / 3);
        large.row_offsets.push_back(row + 1);
    }
    large.values.assign(large.column_indices.size(), 1.0);
    CHECK(facts_of(large, 1).at("twin_rows") == 1);
    for (std::size_t i = 0; i < large.values.size(); ++i) large.values[i] = static_cast<double>(i % 1023);
    CHECK(facts_of(large, 1).at("distinct_values") == 1023);
    large.values[0] = 1023;
    CHECK(facts_of(large, 1).at("distinct_values") == 1024);
}

}  // namespace workbench
