#include "studies/choose/search_log.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "pipeline/engine/brought_files.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

BenchKey key_of(const SearchLog& log, const BenchRecipeFacts& recipe) {
    BenchKey key = log.key;
    key.recipe = content_hash(recipe.resolved);
    key.files = recipe.files;
    return key;
}

Json json_of(const TrialFacts& facts) {
    return {{"seconds", facts.seconds},
            {"predicted_seconds", facts.predicted_seconds},
            {"price_seconds", facts.price_seconds},
            {"bytes_to_move", facts.bytes},
            {"point", facts.point ? Json(*facts.point) : Json(nullptr)},
            {"one_by_one", facts.one_by_one}};
}

TrialFacts trial_facts_of(const Json& line) {
    if (!line.contains("trial")) return {};
    const Json& json = line["trial"];
    TrialFacts facts;
    facts.seconds = json.value("seconds", 0.0);
    facts.predicted_seconds = json.value("predicted_seconds", 0.0);
    facts.price_seconds = json.value("price_seconds", 0.0);
    facts.bytes = json.value("bytes_to_move", std::int64_t{0});
    facts.one_by_one = json.value("one_by_one", false);
    if (json.contains("point") && json["point"].is_array()) facts.point = json["point"].get<SpacePoint>();
    return facts;
}

/// Throws RecipeError if the line belongs to another search.
void check_key(const SearchLog& log, const Json& key, std::size_t number) {
    const Json own = log.key.json();
    constexpr std::array names{std::pair{"matrix", "the matrix"},           std::pair{"bytes", "the size of the matrix file"},
                               std::pair{"device", "the device"},           std::pair{"precision", "the precision"},
                               std::pair{"program", "the program version"}, std::pair{"options", "the options"},
                               std::pair{"software", "the versions"}};
    for (const auto& [name, words] : names) {
        const std::string found = in_one_line(key.value(name, Json(nullptr)));
        const std::string expected = in_one_line(own.value(name, Json(nullptr)));
        if (found == expected) continue;
        throw RecipeError(
            fmt::format("{}:{}: this line belongs to another search: expected {} {}, found {}; name another --log", log.file,
                        number, words, expected, found));
    }
}

LoggedTrial trial_of(const Json& line) {
    LoggedTrial trial;
    trial.key = line["key"].value("recipe", "");
    trial.files = line["key"].value("files", "");
    trial.status = line.value("status", "");
    if (line.contains("reason") && line["reason"].is_string()) trial.reason = line["reason"];
    if (line.contains("recipe")) {
        trial.name = line["recipe"].value("name", "");
        trial.resolved = line["recipe"].value("resolved", "");
    }
    trial.facts = trial_facts_of(line);
    if (trial.status != "measured") return trial;
    std::vector<Record> records = records_of_line(line);
    const auto measured =
        std::find_if(records.begin(), records.end(), [](const Record& one) { return one.status == "measured"; });
    if (measured != records.end()) trial.record = std::move(*measured);
    return trial;
}

}  // namespace

std::string identity_of_trial(const Recipe& recipe) {
    Recipe bare = recipe;
    bare.name = bare.source = "";
    bare.matrix = {};
    bare.node_size = 1;
    return content_hash(resolved_recipe(bare));
}

BenchRecipeFacts facts_for_log(const Recipe& recipe) {
    Recipe bare = recipe;
    bare.matrix = {};
    bare.node_size = 1;  // belongs to the recipe's own matrix
    return {.name = bare.name,
            .source = bare.source,
            .file = recipe.file.string(),
            .resolved = resolved_recipe(bare),
            .files = contents_of_files(recipe)};
}

std::string trial_line(const SearchLog& log, const BenchRecipeFacts& recipe, const RunReport& report, const TrialFacts& facts) {
    const Json trial = json_of(facts);
    return line_of_report(key_of(log, recipe), recipe, json_of(report), false, {}, &trial).text;
}

std::string begun_line(const SearchLog& log, const BenchRecipeFacts& recipe) {
    return line_of_failure(key_of(log, recipe), recipe, "").text;
}

std::string crashed_line(const std::string& begun, const std::string& reason) {
    Json line = Json::parse(begun);
    line["reason"] = reason;
    return in_one_line(line);
}

std::string name_in_line(const std::string& line) { return Json::parse(line)["recipe"]["name"]; }

std::vector<LoggedTrial> logged_trials(const SearchLog& log) {
    std::vector<LoggedTrial> trials;
    for (std::size_t i = 0; i < log.lines.size(); ++i) {
        const auto refuse = [&](const std::string& what) {
            throw RecipeError(fmt::format("{}:{}: {}; name another --log", log.file, i + 1, what));
        };
        const Json line = Json::parse(log.lines[i], nullptr, false);
        if (!line.is_object() || !line.contains("key") || !line["key"].is_object()) refuse("this is not a line of a search");
        check_key(log, line["key"], i + 1);
        try {
            LoggedTrial trial = trial_of(line);
            const auto before =
                std::find_if(trials.begin(), trials.end(), [&](const LoggedTrial& one) { return one.key == trial.key; });
            if (before != trials.end()) trials.erase(before);
            trials.push_back(std::move(trial));
        } catch (const nlohmann::json::exception& wrong) {
            refuse(fmt::format("this line cannot be read ({})", wrong.what()));
        }
    }
    return trials;
}

}  // namespace workbench
