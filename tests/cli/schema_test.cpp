// workbench schema, and the formats of check for editors. tests/schema validates files with the schemas.
#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using nlohmann::json;

json schema_of(const std::string& kind) { return json::parse(run("schema " + kind).text); }

/// The schema of a table whose `use` is this name; null if there is none.
json strict_table(const json& schema, const std::string& key, const std::string& name) {
    for (const json& each : schema["dependencies"][key]["anyOf"]) {
        if (each["properties"][key].value("pattern", "") == "^(" + name + ")$") return each;
    }
    return nullptr;
}

/// Checks that a schema uses only keywords that all editors read. `names`: true if the keys are names of properties.
void check_keywords(const json& schema, bool names) {
    static const std::set<std::string> known{"$schema",
                                             "title",
                                             "description",
                                             "default",
                                             "type",
                                             "properties",
                                             "required",
                                             "items",
                                             "minItems",
                                             "minimum",
                                             "maximum",
                                             "enum",
                                             "anyOf",
                                             "allOf",
                                             "not",
                                             "pattern",
                                             "minLength",
                                             "maxLength",
                                             "additionalProperties",
                                             "dependencies",
                                             "minProperties",
                                             "maxProperties",
                                             "x-taplo"};
    if (schema.is_array()) {
        for (const json& each : schema) check_keywords(each, false);
    }
    if (!schema.is_object()) return;
    for (const auto& [key, value] : schema.items()) {
        if (!names) CHECK_MESSAGE(known.contains(key), key);
        if (!names && (key == "default" || key == "x-taplo")) continue;
        if (!names && key == "required") CHECK(!value.empty());
        check_keywords(value, !names && (key == "properties" || key == "dependencies"));
    }
}

}  // namespace

TEST_CASE("the schema of recipes has every stage, layout and generator with its parameters") {
    const json schema = schema_of("");
    CHECK(schema == schema_of("recipe"));
    const auto check = [](const json& table, const std::string& key, const auto& entries) {
        const json& described = table["properties"];
        const json& words = described[key]["anyOf"][0];
        REQUIRE(words["enum"].size() == entries.size());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            CAPTURE(entries[i].name);
            CHECK(words["enum"][i] == entries[i].name);
            CHECK(words["x-taplo"]["docs"]["enumValues"][i] == entries[i].summary);
            const json strict = strict_table(table, key, entries[i].name);
            REQUIRE(!strict.is_null());
            for (const ParameterDeclaration& parameter : entries[i].parameters) {
                CAPTURE(parameter.name);
                REQUIRE(strict["properties"].contains(parameter.name));
                CHECK(strict["properties"][parameter.name].contains("type"));
                if (key == "generate" && parameter.name == "rows") continue;  // also the rows of a matrix
                const std::string help = described[parameter.name].value("description", "");
                CHECK(help.find(entries[i].name + ": " + parameter.help) != std::string::npos);
            }
        }
    };
    const json& tables = schema["properties"];
    check(tables["stage"]["items"], "use", catalogue().stages);
    check(tables["layout"]["anyOf"][0], "use", catalogue().layouts);
    check(tables["layout"]["anyOf"][1]["items"], "use", catalogue().layouts);
    CHECK(tables["layout"]["anyOf"][1]["items"]["properties"].contains("share"));
    check(tables["matrix"], "generate", catalogue().generators);
    const json parts = strict_table(tables["stage"]["items"], "use", "metis_partition")["properties"]["parts"];
    CHECK(parts["type"] == json({"integer", "string", "object"}));
    CHECK(parts["minimum"] == 1);
    CHECK(parts["maximum"] == 1048576);
    CHECK(parts["pattern"] == "^(auto)$");
    for (const char* kind : {"recipe", "suite", "space"}) check_keywords(schema_of(kind), false);
    CHECK(run("schema report").exit_code == 2);
}

TEST_CASE("the values that each stage, layout and generator accepts, with their limits") {
    std::string text;
    const auto add = [&text](const std::string& kind, const auto& entries) {
        for (const auto& entry : entries) {
            for (const ParameterDeclaration& parameter : entry.parameters) {
                text += kind + " " + entry.name + ", " + parameter.name + ": " + accepted_values(parameter);
                if (parameter.default_value) text += "; default " + to_text(*parameter.default_value);
                text += parameter.optional ? "; optional\n" : "\n";
            }
        }
    };
    add("stage", catalogue().stages);
    add("layout", catalogue().layouts);
    add("generator", catalogue().generators);
    compare_with_stored("parameters", text);
}

TEST_CASE("check --format") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "good.toml") << "[layout]\nuse = \"csr\"\n";
    std::ofstream(folder.path() / "bad.toml") << "[recipe]\nname = \"a\"\n[layout]\nuse = \"c,s:r%\"\n";
    std::ofstream(folder.path() / "sell.toml") << "[layout]\nuse = \"sell\"\n";
    std::ofstream(folder.path() / "extends.toml") << "[recipe]\nextends = \"bad.toml\"\n";
    const auto checked = [&](const std::string& arguments) { return workbench_in(folder.path(), "check " + arguments); };
    const Outcome good = checked("good.toml --format json");
    CHECK(good.exit_code == 0);
    CHECK(good.text == "[]\n");
    CHECK(checked("good.toml --format github").text.empty());

    const Outcome bad = checked("good.toml bad.toml none.toml --format json");
    CHECK(bad.exit_code == 2);
    const json problems = json::parse(bad.text);
    REQUIRE(problems.size() == 2);
    CHECK(problems[0]["file"] == "bad.toml");
    CHECK(problems[0]["line"] == 4);
    CHECK(problems[0]["column"] == 7);
    CHECK(problems[0]["severity"] == "error");
    CHECK(problems[0]["message"].get<std::string>().starts_with("unknown layout 'c,s:r%'"));
    CHECK(problems[1] == json({{"file", "none.toml"},
                               {"line", 0},
                               {"column", 0},
                               {"severity", "error"},
                               {"message", "no such file; expected a recipe"}}));
    CHECK(json::parse(checked("extends.toml --format json").text)[0]["file"] == "bad.toml");
    CHECK(
        checked("bad.toml --format github").text.starts_with("::error file=bad.toml,line=4,col=7::unknown layout 'c,s:r%25'"));
    const json option = json::parse(checked("good.toml --set layout.x=1 --format json").text);
    CHECK(option[0]["file"] == "--set layout.x=1");
    CHECK(option[0]["line"] == 0);
    const json notes = json::parse(checked("good.toml sell.toml --set layout.slice_height=64 --format json").text);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0]["file"] == "good.toml");
    CHECK(notes[0]["severity"] == "note");
    CHECK(checked("good.toml --resolved --format json").exit_code == 2);
}

}  // namespace workbench
