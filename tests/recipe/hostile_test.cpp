// Texts designed to break the parser.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstddef>
#include <random>
#include <string>

#include "pipeline/recipe/space.hpp"
#include "pipeline/recipe/text.hpp"
#include "recipe/recipes.hpp"

namespace workbench {
namespace {

TEST_CASE("bytes that the TOML parser must not see") {
    CHECK(contains(errors_of("a = \xD0\x86"), "1:5: found a character outside ASCII"));
    CHECK(contains(errors_of("\xD0\x86 = 1"), "1:1: found a character outside ASCII"));
    CHECK(contains(errors_of("# \xD0\x86 is fine here\nx = \"\xD0\x86\" \xD0\x86"), "2:9: found a character outside ASCII"));
    CHECK(contains(errors_of("x = \"\"\"a\\\n  \xD0\x86\"\"\""), "2:3: found a character outside ASCII after a backslash"));
    CHECK(contains(errors_of("x = '''\xD0\x86''''' \xD0\x86"), "1:15: found a character outside ASCII"));
    CHECK(contains(errors_of("x = \"\xFF\""), "1:6: found a byte that is not UTF-8"));
    CHECK(contains(errors_of("x = \"\xED\xA0\x80\""), "1:6: found a byte that is not UTF-8"));
    CHECK(contains(errors_of("x = \"\xC0\xAF\""), "1:6: found a byte that is not UTF-8"));
    for (const char* beyond :
         {"\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x98", "\xF1\x80\xC0\x80"}) {
        CHECK(contains(errors_of(fmt::format("x = \"{}\"", beyond)), "1:6: found a byte that is not UTF-8"));
    }
    for (const char* last : {"\xF0\x90\x80\x80", "\xF3\xBF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xEF\xBF\xBD", "\xDF\xBF"}) {
        CHECK(contains(errors_of(fmt::format("x = \"{}\"", last)), "unknown key 'x'"));
    }
    CHECK(contains(errors_of(std::string("a = 1\nb\0c = 1", 13)), "2:2: found control character 0x00"));
    CHECK(contains(errors_of("a = 1\rb = 2"), "1:6: found control character 0x0D"));
    CHECK(contains(errors_of("a = \"\x1B[31m\""), "1:6: found control character 0x1B"));
    CHECK(contains(errors_of("\x1F\x8B\x08"), "1:1: found a compressed file; expected TOML. --matrix FILE names a matrix"));
    CHECK(contains(errors_of("%%MatrixMarket matrix"), "1:1: found a Matrix Market file; expected TOML"));
    // Texts that violate the parser's own assumptions.
    CHECK(contains(errors_of("[=]"), "1:2: expected the name of a table"));
    CHECK(contains(errors_of("# c\n[[.a]]"), "2:3: expected the name of a table"));
    for (const char* named : {"[x]", "['x']", "[\"x\"]", "[[x]]", "[ 'x' ]"}) {
        CAPTURE(named);
        CHECK(contains(errors_of(named), "unknown"));
    }
    CHECK(contains(errors_of("[[[a]]]"), "1:3: expected the name of a table"));
    CHECK(contains(errors_of("a = [ }"), "1:7: found '}' without a matching '{'"));
    CHECK(contains(errors_of("a = 1[\"\xD0\x86\"]"), "1:5: found neither a number nor true or false"));
    CHECK(contains(errors_of("a = [ # c\n 1\"\xD0\x86\"]"), "2:2: found neither a number nor true or false"));
    CHECK(contains(errors_of("a = 1979-05-27T:"), "1:5: found neither a number nor true or false"));
    CHECK(errors_of("x = [ # \xD0\x86\n {a.b = +1.5e-3, \"\xD0\x86\" = true}, [[-inf, 0x1F, 1_000]], '\xD0\x86', ]")
              .find("unknown key 'x'") != std::string::npos);
}

TEST_CASE("a name with something added is a legal name") {
    CHECK(extended_name("EHYB", ", without sort") == "EHYB, without sort");
    CHECK(extended_name(std::string(80, 'a'), ", without order") == std::string(62, 'a') + "..., without order");
    CHECK(extended_name(std::string(80, 'a'), std::string(80, 'b')) ==
          std::string(37, 'a') + "..." + std::string(37, 'b') + "...");
}

TEST_CASE("deep nesting, long lines, many tables") {
    std::string key = "a";
    for (int i = 0; i < 100'000; ++i) key += "\n.a";
    CHECK_FALSE(errors_of(key).empty());
    std::string dots = "a";
    for (int i = 0; i < 1000; ++i) dots += ".a";
    CHECK(contains(errors_of(dots + " = 1"), "found a key of more than 16 words"));
    CHECK(contains(errors_of("[" + dots + "]"), "found a key of more than 16 words"));
    CHECK(contains(errors_of("a = " + std::string(2'000, '[')), "1:"));
    CHECK(contains(errors_of("a = '" + std::string(200'000, 'x')), "found a line of more than 10000 characters"));
    std::string keys = "[layout]\nuse = 'plain'\n";
    for (int i = 0; i < 50'000; ++i) keys += fmt::format("slice_{} = 1\n", i);
    CHECK(contains(errors_of(keys), "and 49950 more errors"));
    CHECK(contains(errors_of(keys + "slice_height = { sweep = '1..1000' }\n"), "and 49950 more errors"));
    std::string stages;
    for (int i = 0; i < 1001; ++i) stages += "[[stage]]\nuse = 'sort'\nwithin = 'partition'\n";
    CHECK(contains(errors_of(stages), "found 1001 stages; expected at most 1000"));
}

TEST_CASE("damaged recipes load or throw") {
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

TEST_CASE("damaged spaces load or throw") {
    const std::string text =
        "[space]\nname = 'a'\n[[stage]]\nid = 'order'\noptional = true\nwhen = 'rows > 3 and not (square or rows = 2)'\nuse = "
        "['sort', { use = 'graph_partition', parts = [1, 2, 'auto'], when = \"twin_rows < 0.5\" }]\n[layout]\nuse = { sweep = "
        "['plain', { use = 'plain', slice_height = [1, 2] }] }\n";
    REQUIRE(parse_space(text, "a.toml", small_catalogue()).count() == 15);
    std::mt19937 random(1);
    int loaded = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = text;
        const auto at = [&] { return random() % damaged.size(); };
        const std::size_t from = at();
        if (i % 3 == 0) damaged[from] = text[random() % text.size()];
        if (i % 3 == 1) damaged.erase(from, random() % 10);
        if (i % 3 == 2) damaged.insert(from, text.substr(random() % text.size(), random() % 10));
        try {
            const Space space = parse_space(damaged, "a.toml", small_catalogue());
            loaded += static_cast<int>(space.recipe(space.point(space.count() - 1)).layouts.size());
        } catch (const RecipeError&) {
        }
    }
    CHECK(loaded > 100);
}

}  // namespace
}  // namespace workbench
