// The recipe language, with a small catalogue of its own: what is tested here is the language, not any stage or layout.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

// ---------------------------------------------------------------------------------------------------------------------------------
// A catalogue of stages that do nothing but promise.

Acts acts_of(const Parameters& parameters) {
    if (parameters.has("part")) return Acts::part;
    const std::string& apply = parameters.text("apply");
    return apply == "rows" ? Acts::rows : apply == "columns" ? Acts::columns : Acts::symmetric;
}

using Type = ParameterType;

StageEntry stage(const std::string& name, std::vector<ParameterDeclaration> parameters,
                 StageContract (*contract)(const Parameters&)) {
    StageEntry entry;
    entry.name = name;
    entry.parameters = std::move(parameters);
    entry.contract = contract;
    return entry;
}

ParameterDeclaration choice(const std::string& name, const std::vector<std::string>& words) {
    return {.name = name, .type = Type::choice, .default_value = words.front(), .words = words};
}

StageContract partition_contract(const Parameters& parameters) {
    if (!parameters.is_word("parts", "auto") && parameters.integer("parts") == 13) {
        throw ParameterError("parts", "13 partitions bring bad luck");
    }
    return {.needs = {.square = true}, .acts = Acts::symmetric, .gives_cuts = {CutKind::partition}};
}

StageContract sort_contract(const Parameters& parameters) {
    StageContract contract{.acts = acts_of(parameters)};
    if (parameters.text("within") == "partition") contract.needs.cuts = contract.keeps = {CutKind::partition};
    if (parameters.has("part")) contract.needs.parts = {parameters.text("part")};
    return contract;
}

StageContract split_contract(const Parameters& parameters) {
    if (parameters.text("by") == "first_of_row") return {.needs = {.unsplit = true}, .gives_parts = {"first", "rest"}};
    return {.needs = {.cuts = {CutKind::partition}, .unsplit = true}, .gives_parts = {"inside", "outside"}};
}

std::vector<StageEntry> stages() {
    const ParameterDeclaration apply = choice("apply", {"symmetric", "rows", "columns"});
    return {
        stage(
            "graph_partition",
            {{.name = "parts", .type = Type::integer, .minimum = 1, .maximum = 65536, .words = {"auto"}, .unit = "partitions"},
             choice("method", {"kway", "recursive"}),
             {.name = "imbalance", .type = Type::real, .default_value = 1.03, .minimum = 1, .maximum = 2},
             {.name = "refine", .type = Type::boolean, .default_value = true}},
            partition_contract),
        stage("sort", {choice("within", {"all", "partition"}), {.name = "part", .type = Type::text, .optional = true}, apply},
              sort_contract),
        stage("shuffle", {{.name = "seed", .type = Type::integer, .default_value = std::int64_t{1}}, apply},
              [](const Parameters& parameters) { return StageContract{.acts = acts_of(parameters)}; }),
        stage("segments", {{.name = "width", .type = Type::integer, .minimum = 1}},
              [](const Parameters&) { return StageContract{.gives_cuts = {CutKind::segment}}; }),
        stage("column_sort", {{.name = "seed", .type = Type::integer, .optional = true}},
              [](const Parameters& parameters) {
                  if (!parameters.has("seed")) throw ParameterError("seed", "a seed is needed");
                  return StageContract{.acts = Acts::columns, .gives_columns_by_density = true};
              }),
        stage("dense_segments", {},
              [](const Parameters&) {
                  return StageContract{.needs = {.columns_by_density = true}, .gives_cuts = {CutKind::segment}};
              }),
        stage("split", {choice("by", {"inside_partition", "first_of_row"})}, split_contract)};
}

LayoutEntry layout(const std::string& name, std::vector<ParameterDeclaration> parameters, Needs (*needs)(const Parameters&),
                   const std::vector<std::pair<std::string, Backend>>& kernels) {
    LayoutEntry entry;
    entry.name = name;
    entry.parameters = std::move(parameters);
    entry.needs = needs;
    for (const auto& [kernel, backend] : kernels) entry.kernels.push_back({kernel, backend, "", {}});
    return entry;
}

std::vector<LayoutEntry> layouts() {
    return {
        layout(
            "plain",
            {{.name = "slice_height", .type = Type::integer, .default_value = std::int64_t{32}, .minimum = 1, .unit = "rows"}},
            [](const Parameters&) { return Needs{.unsplit = true}; },
            {{"rows", Backend::kokkos}, {"lanes", Backend::kokkos}, {"oracle", Backend::eigen}}),
        layout("cached", {},
               [](const Parameters&) {
                   return Needs{.square = true, .cuts = {CutKind::partition}, .parts = {"inside", "outside"}};
               },
               {{"slices", Backend::kokkos}})};
}

const Catalogue& catalogue() {
    static const Catalogue all = {stages(), layouts(), "plain"};
    return all;
}

const std::string whole = R"(
[recipe]
name = "whole"
source = "made up, in a \"test\" — for this one"

[matrix]
path = "matrices/a.mtx"

[[stage]]
use   = "graph_partition"
parts = 16

[[stage]]
use    = "sort"
within = "partition"

[[stage]]
use = "split"

[[stage]]
id   = "sort_outside"
use  = "sort"
part = "outside"

[layout]
use = "cached"
)";

Recipe parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse_recipe(text, "recipes/test.toml", catalogue(), overrides);
}

/// The text of the errors; empty where there are none.
std::string errors_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        static_cast<void>(parse(text, overrides));
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

void check_same(const Recipe& a, const Recipe& b) {
    CHECK(a.name == b.name);
    CHECK(a.source == b.source);
    CHECK(a.matrix.node_size == b.matrix.node_size);
    REQUIRE(a.matrix.from.index() == b.matrix.from.index());
    if (const auto* file = std::get_if<MatrixFile>(&a.matrix.from)) {
        CHECK(fs::absolute(file->path).lexically_normal() == std::get<MatrixFile>(b.matrix.from).path);
    }
    if (const auto* rows = std::get_if<InlineMatrix>(&a.matrix.from)) {
        CHECK(rows->rows == std::get<InlineMatrix>(b.matrix.from).rows);
    }
    if (const auto* generated = std::get_if<GeneratedMatrix>(&a.matrix.from)) {
        CHECK(generated->generator == std::get<GeneratedMatrix>(b.matrix.from).generator);
        CHECK(generated->parameters.values() == std::get<GeneratedMatrix>(b.matrix.from).parameters.values());
    }
    REQUIRE(a.stages.size() == b.stages.size());
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        CHECK(a.stages[i].id == b.stages[i].id);
        CHECK(a.stages[i].entry == b.stages[i].entry);
        CHECK(a.stages[i].parameters.values() == b.stages[i].parameters.values());
    }
    CHECK(a.layout.entry == b.layout.entry);
    CHECK(a.layout.parameters.values() == b.layout.parameters.values());
    CHECK(a.kernels == b.kernels);
}

// ---------------------------------------------------------------------------------------------------------------------------------

TEST_CASE("a whole recipe becomes plain data") {
    const Recipe recipe = parse(whole);
    CHECK(recipe.name == "whole");
    CHECK(recipe.source == "made up, in a \"test\" — for this one");
    CHECK(std::get<MatrixFile>(recipe.matrix.from).path == "recipes/matrices/a.mtx");
    CHECK(recipe.matrix.node_size == 1);
    REQUIRE(recipe.stages.size() == 4);
    CHECK(recipe.stages[0].id == "graph_partition");
    CHECK(recipe.stages[0].parameters.integer("parts") == 16);
    CHECK(recipe.stages[0].parameters.real("imbalance") == 1.03);
    CHECK(recipe.stages[0].parameters.boolean("refine"));
    CHECK(recipe.stages[0].place == Place{9, 1});
    CHECK(recipe.stages[1].id == "sort");
    CHECK(recipe.stages[1].contract.keeps == std::vector{CutKind::partition});
    CHECK(recipe.stages[3].id == "sort_outside");
    CHECK(recipe.stages[3].contract.acts == Acts::part);
    CHECK(recipe.layout.entry->name == "cached");
    CHECK(recipe.kernels.empty());
}

TEST_CASE("the smallest recipe is a layout") {
    const Recipe recipe = parse("layout.use = 'plain'");
    CHECK(recipe.name == "test");  // the file's
    CHECK(std::holds_alternative<std::monostate>(recipe.matrix.from));
    CHECK(recipe.stages.empty());
    CHECK(recipe.layout.parameters.integer("slice_height") == 32);
    CHECK(recipe.kernels.empty());
}

TEST_CASE("a byte order mark and line ends of Windows are no errors") {
    CHECK(parse("\xEF\xBB\xBF[layout]\r\nuse = 'plain'\r\n").layout.entry->name == "plain");
}

TEST_CASE("kernels are chosen by backend; a choice for a backend that is not built is kept") {
    const Recipe recipe = parse("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'lanes'\ncuda = 'fused'\n");
    CHECK(recipe.kernels == std::map<Backend, std::string>{{Backend::kokkos, "lanes"}, {Backend::cuda, "fused"}});
}

TEST_CASE("a matrix may be written out, or generated") {
    const Recipe written = parse("[matrix]\nrows = ['1 . 2', '. 3 .', '4 . 5']\nnode_size = 3\n[layout]\nuse = 'plain'\n");
    CHECK(csr_from_rows(std::get<InlineMatrix>(written.matrix.from).rows).nonzeros() == 5);
    CHECK(written.matrix.node_size == 3);
    const GeneratorEntry& generator = generators().front();
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

TEST_CASE("stages of one name are numbered where they have no ids") {
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

TEST_CASE("the resolved recipe says everything and loads again to the same recipe") {
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
part   = "outside"
apply  = "symmetric"

[layout]
use = "cached"

[kernel]
kokkos = "slices"
)",
                              fs::absolute("recipes/matrices/a.mtx").string()));
    check_same(recipe, parse_recipe(text, "/elsewhere/resolved.toml", catalogue()));

    const Recipe inline_matrix = parse(
        "[matrix]\nrows = ['1 . 2', '. 3 .']\n[[stage]]\nuse = 'sort'\n[[stage]]\nuse = 'sort'\n[layout]\nuse = 'plain'\n");
    check_same(inline_matrix, parse(resolved_recipe(inline_matrix)));
    const Recipe odd =
        parse("[recipe]\nsource = \"tab\\t quote\\\" backslash\\\\ bell\\u0007 newline\\n é\"\n[layout]\nuse = 'plain'\n");
    check_same(odd, parse(resolved_recipe(odd)));
}

TEST_CASE("what needs the matrix is checked against it") {
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

// ---------------------------------------------------------------------------------------------------------------------------------

/// The options of a golden recipe: its first lines, as "# --set layout.x=1".
std::vector<std::string> options_of(const std::string& text) {
    std::vector<std::string> options;
    std::istringstream lines(text);
    const std::string mark = "# --set ";
    for (std::string line; std::getline(lines, line) && line.starts_with(mark);) options.push_back(line.substr(mark.size()));
    return options;
}

TEST_CASE("golden: the exact text of every error") {
    const fs::path folder = fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/recipe";
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".toml") continue;
        const std::string text = file_text(entry.path());
        fs::path expected = entry.path();
        expected.replace_extension(".txt");
        std::string found = "no error\n";
        const std::vector<std::string> options = options_of(text);
        try {
            static_cast<void>(parse_recipe(text, entry.path().filename(), catalogue(), options));
        } catch (const RecipeError& error) {
            found = std::string(error.what()) + "\n";
        }
        compare_with_golden(expected, found);
        ++compared;
    }
    CHECK(compared >= 30);
}

TEST_CASE("files that are no recipes") {
    const auto error_of = [](const fs::path& file) {
        try {
            static_cast<void>(load_recipe(file, catalogue()));
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(error_of("no/such.toml") == "error: no/such.toml: no such file; expected a recipe");
    CHECK(error_of("/") == "error: /: a folder; expected a recipe");
    CHECK(contains(errors_of(std::string(2'000'000, '#')), "more than 1048576 bytes"));
    CHECK(contains(errors_of(""), "no [layout]"));

    const fs::path file = fs::temp_directory_path() / "workbench_recipe_test.toml";
    std::ofstream(file) << whole;
    CHECK(std::get<MatrixFile>(load_recipe(file, catalogue()).matrix.from).path ==
          fs::temp_directory_path() / "matrices/a.mtx");
    fs::remove(file);
}

TEST_CASE("bytes that the TOML parser must not see") {
    CHECK(contains(errors_of("a = \xD0\x86"), "1:5: a character outside ASCII"));
    CHECK(contains(errors_of("\xD0\x86 = 1"), "1:1: a character outside ASCII"));
    CHECK(contains(errors_of("# \xD0\x86 is fine here\nx = \"\xD0\x86\" \xD0\x86"), "2:9: a character outside ASCII"));
    CHECK(contains(errors_of("x = \"\"\"a\\\n  \xD0\x86\"\"\""), "2:3: a character outside ASCII after a backslash"));
    CHECK(contains(errors_of("x = '''\xD0\x86''''' \xD0\x86"), "1:15: a character outside ASCII"));
    CHECK(contains(errors_of("x = \"\xFF\""), "1:6: a byte that is not UTF-8"));
    CHECK(contains(errors_of("x = \"\xED\xA0\x80\""), "1:6: a byte that is not UTF-8"));
    CHECK(contains(errors_of("x = \"\xC0\xAF\""), "1:6: a byte that is not UTF-8"));
    CHECK(contains(errors_of(std::string("a = 1\nb\0c = 1", 13)), "2:2: control character 0x00"));
    CHECK(contains(errors_of("a = 1\rb = 2"), "1:6: control character 0x0D"));
    CHECK(contains(errors_of("a = \"\x1B[31m\""), "1:6: control character 0x1B"));
    // Where the parser's own assumptions would break.
    CHECK(contains(errors_of("[=]"), "1:2: expected the name of a table"));
    CHECK(contains(errors_of("# c\n[[.a]]"), "2:3: expected the name of a table"));
    CHECK(contains(errors_of("[[[a]]]"), "1:3: expected the name of a table"));
    CHECK(contains(errors_of("a = [ }"), "1:7: a '}' without its '{'"));
    CHECK(contains(errors_of("a = 1[\"\xD0\x86\"]"), "1:5: neither a number nor true or false"));
    CHECK(contains(errors_of("a = [ # c\n 1\"\xD0\x86\"]"), "2:2: neither a number nor true or false"));
    CHECK(contains(errors_of("a = 1979-05-27T:"), "1:5: neither a number nor true or false"));
    CHECK(errors_of("x = [ # \xD0\x86\n {a.b = +1.5e-3, \"\xD0\x86\" = true}, [[-inf, 0x1F, 1_000]], '\xD0\x86', ]")
              .find("unknown key 'x'") != std::string::npos);
}

TEST_CASE("deep, long and many") {
    std::string key = "a";
    for (int i = 0; i < 100'000; ++i) key += "\n.a";
    CHECK_FALSE(errors_of(key).empty());
    std::string dots = "a";
    for (int i = 0; i < 1000; ++i) dots += ".a";
    CHECK(contains(errors_of(dots + " = 1"), "a key of more than 16 words"));
    CHECK(contains(errors_of("[" + dots + "]"), "a key of more than 16 words"));
    CHECK(contains(errors_of("a = " + std::string(2'000, '[')), "1:"));
    CHECK(contains(errors_of("a = '" + std::string(200'000, 'x')), "a line of more than 10000 characters"));
    std::string keys = "[layout]\nuse = 'plain'\n";
    for (int i = 0; i < 50'000; ++i) keys += fmt::format("slice_{} = 1\n", i);
    CHECK(contains(errors_of(keys), "and 49950 errors more"));
    std::string stages;
    for (int i = 0; i < 1001; ++i) stages += "[[stage]]\nuse = 'sort'\nwithin = 'partition'\n";
    CHECK(contains(errors_of(stages), "1001 stages; expected at most 1000"));
}

TEST_CASE("broken recipes load or throw, whatever the damage") {
    std::mt19937 random(1);
    const auto survives = [](const std::string& text) {
        try {
            static_cast<void>(parse(text));
        } catch (const RecipeError&) {
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length) CHECK_NOTHROW(survives(whole.substr(0, length)));
    for (int trial = 0; trial < 4'000; ++trial) {
        std::string text = whole;
        for (int flips = 1 + trial % 3; flips > 0; --flips) text[random() % text.size()] = static_cast<char>(random() % 256);
        CHECK_NOTHROW(survives(text));
    }
    const std::string alphabet = "[]{}\"'\\=.,#\n\r\t -+_0159aex:TZ\xD0\x86\xC3\xA9\xE3\x81\x82";
    for (int trial = 0; trial < 20'000; ++trial) {
        std::string text;
        for (std::size_t length = random() % 24; length > 0; --length) text += alphabet[random() % alphabet.size()];
        CHECK_NOTHROW(survives(text));
        CHECK_NOTHROW(static_cast<void>(errors_of("[layout]\nuse='plain'", {"layout.slice_height=" + text})));
        CHECK_NOTHROW(static_cast<void>(errors_of("[layout]\nuse='plain'", {text})));
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------

TEST_CASE("values are written as TOML writes them") {
    CHECK(to_text(true) == "true");
    CHECK(to_text(std::int64_t{-16}) == "-16");
    CHECK(to_text(16.0) == "16.0");
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(1e300) == "1e+300");
    CHECK(to_text(std::string("a \"b\" \\ \n\x01")) == "\"a \\\"b\\\" \\\\ \\n\\u0001\"");
}

TEST_CASE("a declaration says what it accepts, and refuses the rest") {
    const ParameterDeclaration parts = {
        .name = "parts", .type = ParameterType::integer, .minimum = 1, .maximum = 65536, .words = {"auto"}};
    CHECK(accepted_values(parts) == "an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, std::int64_t{1}).empty());
    CHECK(reason_to_refuse(parts, std::int64_t{65536}).empty());
    CHECK(reason_to_refuse(parts, std::string("auto")).empty());
    CHECK(reason_to_refuse(parts, std::int64_t{0}) == "found 0, expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, 16.0) == "found 16.0 (a real number), expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, true) == "found true, expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, std::string("atuo")) ==
          "found \"atuo\", expected an integer from 1 to 65536, or \"auto\"; did you mean 'auto'?");

    const ParameterDeclaration share = {.name = "share", .type = ParameterType::real, .minimum = 0.5, .unit = "of the rows"};
    CHECK(accepted_values(share) == "a number of at least 0.5 (of the rows)");
    CHECK(reason_to_refuse(share, std::int64_t{1}).empty());
    CHECK_FALSE(reason_to_refuse(share, std::numeric_limits<double>::infinity()).empty());
    CHECK_FALSE(reason_to_refuse(share, std::numeric_limits<double>::quiet_NaN()).empty());

    const ParameterDeclaration order = {.name = "order", .type = ParameterType::choice, .words = {"up", "down", "both"}};
    CHECK(accepted_values(order) == "\"up\", \"down\" or \"both\"");
    CHECK(reason_to_refuse(order, std::string("dwon")) ==
          "found \"dwon\", expected \"up\", \"down\" or \"both\"; did you mean 'down'?");
}

TEST_CASE("parameters hold what was given and the defaults for the rest") {
    const std::vector<ParameterDeclaration> declarations = {
        {.name = "width", .type = ParameterType::integer},
        {.name = "share", .type = ParameterType::real, .default_value = 0.5},
        {.name = "window", .type = ParameterType::integer, .optional = true},
    };
    const Parameters parameters(declarations, {{"width", std::int64_t{3}}, {"share", std::int64_t{2}}});
    CHECK(parameters.integer("width") == 3);
    CHECK(parameters.real("share") == 2.0);  // an integer where a real is declared
    CHECK_FALSE(parameters.has("window"));
    CHECK_THROWS_AS(static_cast<void>(parameters.integer("window")), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {}), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {{"width", true}}), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {{"width", std::int64_t{3}}, {"height", std::int64_t{3}}}), std::logic_error);
}

TEST_CASE("a suggestion is near") {
    const std::vector<std::string> names = {"metis_partition", "row_sort", "split"};
    CHECK(did_you_mean("metis_partion", names) == "; did you mean 'metis_partition'?");
    CHECK(did_you_mean("row-sort", names) == "; did you mean 'row_sort'?");
    CHECK(did_you_mean("Split", names) == "; did you mean 'split'?");
    CHECK(did_you_mean("spilt", names) == "; did you mean 'split'?");
    CHECK(did_you_mean("metis", names) == "; did you mean 'metis_partition'?");
    CHECK(did_you_mean("hash", names).empty());
    CHECK(did_you_mean("", names).empty());
    CHECK(did_you_mean(std::string(100'000, 'x'), names).empty());
}

}  // namespace
}  // namespace workbench
