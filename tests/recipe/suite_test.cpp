// Suites: their contents, and every error with its place.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/contract/errors.hpp"
#include "pipeline/recipe/suite.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

std::string suite_errors_of(const std::string& text) {
    return message_of<RecipeError>([&] { (void)parse_suite(text, "suites/s.toml"); });
}

}  // namespace

TEST_SUITE("suite") {
    TEST_CASE("a suite with all keys") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "r.toml") << "x";
        fs::create_directories(folder.path() / "more" / "down");
        const Suite suite = parse_suite(
            "[suite]\nname = 'N'\nsource = 'S'\nrecipes = ['../r.toml']\nmatrices = ['down', '../r.toml']\n"
            "named = [{ name = 'Janna/Hook_1498', rows = 3, nonzeros = 4 }, { name = 'e40r5000' }]\n"
            "generate = ['laplace2d:nx=3']\nprecisions = ['f32', 'f64', 'f32']\nbackends = ['eigen']\ncache = 'warm'\n"
            "samples = 7\nseconds = 0.5\nlimit = 60\n",
            folder.path() / "more" / "s.toml");
        CHECK(suite.name == "N");
        CHECK(suite.source == "S");
        REQUIRE(suite.recipes.size() == 1);
        CHECK(suite.recipes[0].text == (folder.path() / "r.toml").string());
        CHECK(suite.recipes[0].where == (folder.path() / "more" / "s.toml").string() + ":4:12");
        REQUIRE(suite.matrices.size() == 2);
        CHECK(suite.matrices[0].text == (folder.path() / "more" / "down").string());
        REQUIRE(suite.named.size() == 2);
        CHECK(suite.named[0].group == "Janna");
        CHECK(suite.named[0].name == "Hook_1498");
        CHECK(suite.named[0].full_name() == "Janna/Hook_1498");
        CHECK(suite.named[0].rows == 3);
        CHECK(suite.named[0].nonzeros == 4);
        CHECK(suite.named[1].group.empty());
        CHECK(suite.named[1].full_name() == "e40r5000");
        CHECK(!suite.named[1].rows);
        CHECK(!suite.named[1].nonzeros);
        CHECK(suite.generated.at(0).text == "laplace2d:nx=3");
        CHECK(suite.precisions == std::vector{Precision::f32, Precision::f64});
        CHECK(suite.backends == std::vector{Backend::eigen});
        CHECK(suite.cache == "warm");
        CHECK(suite.samples == 7);
        CHECK(suite.seconds == 0.5);
        CHECK(suite.limit_seconds == 60);
    }

    TEST_CASE("the defaults of a suite") {
        const Suite suite = parse_suite("[suite]\nrecipes = []\n", "suites/s.toml");
        CHECK(suite.name == "s");
        CHECK(suite.precisions == std::vector{Precision::f64});
        CHECK(suite.cache == "warm");
        CHECK(suite.inside.empty());
        CHECK(suite.samples == 20);
        CHECK(suite.limit_seconds == 0);
        CHECK(suite.backends.empty());
        CHECK(suite.named.empty());
    }

    TEST_CASE("products inside an iteration exclude a state of the caches") {
        CHECK(parse_suite("[suite]\nrecipes = []\ninside = 'cg'\n", "suites/s.toml").inside == "cg");
        CHECK(suite_errors_of("[suite]\nrecipes = []\ninside = 'bicg'\n")
                  .find("suites/s.toml:3:10: [suite], inside: found \"bicg\", expected \"cg\"") != std::string::npos);
        CHECK(suite_errors_of("[suite]\nrecipes = []\ninside = 'cg'\ncache = 'warm'\n")
                  .find("suites/s.toml:3:10: [suite], inside: the iteration determines the state of the caches; expected no "
                        "'cache'") != std::string::npos);
    }

    TEST_CASE("a name that is no name of a file, and lists without a word") {
        for (const std::string name : {"", "../y", ".hidden"}) {
            CHECK(suite_errors_of("[suite]\nrecipes = []\nname = '" + name + "'\n")
                      .find("3:8: [suite], name: found '" + name + "', expected a name without '/', no '.' first") !=
                  std::string::npos);
        }
        CHECK(suite_errors_of("[suite]\nrecipes = []\nprecisions = []\n")
                  .find("3:14: [suite], precisions: found an empty list; expected one of f64, f32") != std::string::npos);
        CHECK(suite_errors_of("[suite]\nrecipes = []\nnamed = []\n").find("named: found an empty list, expected [") !=
              std::string::npos);
    }

    TEST_CASE("names of the SuiteSparse collection") {
        const auto group_of = [](const char* text) {
            const auto matrix = read_matrix_name(text);
            return matrix ? matrix->group + "|" + matrix->name : "refused";
        };
        CHECK(group_of("Williams/cant") == "Williams|cant");
        CHECK(group_of("a-b/c+d_1.e") == "a-b|c+d_1.e");
        CHECK(group_of("cant") == "|cant");
        for (const char* text :
             {"", "/", "a/", "/a", "a/b/c", "../a", "a/..", "a/.b", "a b", "a/b?c", "a/%20", "-x/a", "a\\b"}) {
            CHECK_MESSAGE(group_of(text) == "refused", text);
        }
    }

    TEST_CASE("errors with their places") {
        const fs::path golden = fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/recipe/suite_errors.txt";
        const std::string wrong =
            "[suite]\nrecipe = ['a.toml']\nrecipes = ['none.toml', 7]\nmatrices = 'down'\nprecisions = ['f16']\n"
            "backends = ['gpu']\nsamples = 0\ncache = 'hot'\ngenerate = ['a', 'b']\nlimit = 'long'\n[matrix]\npath = 'x'\n";
        const std::string paths = "[suite]\nrecipes = ['none.toml',\n    'also none.toml']\nmatrices = ['nowhere']\n";
        const std::string named =
            "[suite]\nrecipes = []\nnamed = [\n    { name = 'Janna/Hook_1498', rows = -1 },\n    { rows = 3 },\n"
            "    { name = 'Janna/Hook/1498', row = 3 },\n    { name = 'Janna/Hook/1498' },\n    { name = 'a/b' },\n"
            "    { name = 'a/b', nonzeros = 'many' },\n    { name = 'a/b' }]\n";
        const std::string no_tables = "[suite]\nrecipes = []\nnamed = ['Janna/Hook_1498']\n";
        compare_with_golden(golden, suite_errors_of(wrong) + "\n\n" + suite_errors_of(paths) + "\n\n" +
                                        suite_errors_of("[suite]\nname = 'x'\n") + "\n\n" + suite_errors_of("x = 3\n") +
                                        "\n\n" + suite_errors_of("[suite\n") + "\n\n" + suite_errors_of(named) + "\n\n" +
                                        suite_errors_of(no_tables) + "\n");
    }

    TEST_CASE("a file with the table [suite] is a suite, a recipe is not") {
        const TemporaryFolder folder;
        const auto is = [&](const std::string& text) {
            std::ofstream(folder.path() / "f.toml", std::ios::binary) << text;
            return is_suite(folder.path() / "f.toml");
        };
        CHECK(is("# what it is\n\n  [suite]\nx"));
        CHECK(is("[suite]"));
        CHECK(!is("[layout]\nuse = 'csr'\n# [suite]\n"));
        CHECK(!is(""));
        CHECK(!is_suite(folder.path()));
        CHECK(!is_suite(folder.path() / "none"));
    }
}

}  // namespace workbench
