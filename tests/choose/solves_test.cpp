// Choices for a number of solves, controls, and the baseline of a choice, on the scripted machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "choose/scripted_choices.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/rank_choice.hpp"

namespace workbench {
namespace {

/// The scripted catalogue, whose stage `reverse` is a control.
const Catalogue& catalogue_with_control() {
    static const Catalogue with_control = [] {
        Catalogue made = scripted_catalogue();
        for (StageEntry& stage : made.stages) stage.is_control = stage.name == "reverse";
        return made;
    }();
    return with_control;
}

Timed timed(const std::string& name, double seconds, double speedup, double price, double permutation) {
    Timed one{.recipe = plain(name, "fast"), .record = {}};
    one.record.status = "measured";
    one.record.seconds = seconds;
    one.record.speedup = speedup;
    one.record.interval = Interval{speedup, speedup};
    one.record.verdict = "faster";
    one.record.break_even = price / (seconds * (speedup - 1));
    one.record.preparation = {{"layout", price - permutation}, {"vectors", permutation}};
    one.price_seconds = price;
    return one;
}

}  // namespace

TEST_SUITE("choose for solves") {
    TEST_CASE("each solve permutes its vectors, which counts against what its products save") {
        // Both save 1 s a product and cost 10 s; one of them permutes for 3 s in each solve.
        Choice choice;
        Timed base{.recipe = csr(), .record = {}};
        base.is_baseline = true;
        base.record.seconds = 2;
        base.record.speedup = 1;
        base.record.verdict = "baseline";
        choice.ranking = {base, timed("permutes", 1, 2, 10, 3), timed("keeps", 1, 2, 10.5, 0)};
        ChooseOptions options = options_of();
        options.counts_solves = true;
        const auto chosen = [&](double solves, double iterations) {
            options.solves = solves;
            options.products = solves * iterations;
            rank_choice(choice, options);
            return choice.ranking.front().recipe.name;
        };
        CHECK(chosen(1, 20) == "permutes");
        CHECK(*choice.ranking.front().saved_seconds(20, 1) == doctest::Approx(10));
        CHECK(answer_of(choice, options).find("and 1 solve of 20 iterations save 10.0 s.") != std::string::npos);
        CHECK(chosen(2, 20) == "keeps");
        CHECK(*choice.ranking.front().saved_seconds(40, 2) == doctest::Approx(29.5));
        CHECK(answer_of(choice, options).find("and 2 solves of 20 iterations save 29.5 s.") != std::string::npos);
        CHECK(chosen(4, 2) == "CSR");  // 8 products save 8 s
        CHECK(answer_of(choice, options).find("no recipe pays within 4 solves of 2 iterations") != std::string::npos);
    }

    TEST_CASE("random orders are the only controls of the program") {
        for (const StageEntry& stage : catalogue().stages)
            CHECK_MESSAGE(stage.is_control == (stage.name == "random_order"), stage.name);
    }

    TEST_CASE("a control is timed, but never chosen") {
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        script.seconds["run slow"] = {8};
        script.seconds["build plain"] = {1};
        const auto recipe = [](const std::string& name, const std::string& kernel, const std::string& stage) {
            return parse_recipe(
                "[recipe]\nname = '" + name + "'\n" + stage + "[layout]\nuse = 'plain'\n[kernel]\nkokkos = '" + kernel + "'\n",
                "t.toml", catalogue_with_control());
        };
        const Recipe control = recipe("control", "fast", "[[stage]]\nuse = 'reverse'\n");
        const Recipe other = recipe("other", "slow", "");
        for (const std::optional<double>& products : {std::optional<double>(), std::optional<double>(1e6)}) {
            ChooseOptions options = options_of();
            options.products = products;
            const Choice both = choose({csr(), control, other}, options, catalogue_with_control());
            CHECK(names_of(both).front() == "other");
            CHECK(names_of(both).size() == 3);
            const Choice alone = choose({csr(), control}, options, catalogue_with_control());
            CHECK(alone.stay);
            CHECK(names_of(alone).front() == "CSR");
            CHECK(answer_of(alone, options) == "Stay with CSR: no measured recipe beats it by more than the noise.");
            const auto json = nlohmann::json::parse(choice_json(alone, options, matrix_report, ""));
            CHECK(json["ranking"][1]["control"] == true);
        }
    }

    TEST_CASE("every figure of a line follows from the JSON") {
        script_a_tie();
        const Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        const auto json = nlohmann::json::parse(choice_json(choice, options_of(), matrix_report, ""));
        for (const auto& one : json["ranking"]) {
            const double ratio = one["baseline_seconds"].get<double>() / one["median_seconds"].get<double>();
            CHECK(ratio == doctest::Approx(one["speedup"].get<double>()));
        }
    }

    TEST_CASE("the baseline is the fastest kernel of CSR on the device") {
        for (const auto& [vendor, own, expected] : {std::tuple{4.0, 8.0, "vendor"}, std::tuple{8.0, 4.0, "own"}}) {
            Script& script = new_script();
            script.seconds["run vendor"] = {vendor};
            script.seconds["run own"] = {own};
            script.seconds["run gpu"] = {2};
            ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {376, 752});
            ScriptedDevice gpu({DeviceKind::gpu, "a GPU", 4, 1000, 0, 0}, {3000, 4000});
            ChooseOptions options = options_of();
            options.backends = {Backend::cuda, Backend::cusparse};
            const Recipe recipe = recipe_of("[recipe]\nname = 'P'\n[layout]\nuse = 'plain'\n");
            const Choice choice =
                choose(example_matrix(), scripted_catalogue(), {host, &gpu}, std::vector<Recipe>{csr(), recipe}, options);
            CHECK(choice.baseline_kernel == expected);
            REQUIRE(choice.ranking.front().recipe.name == "P");
            CHECK(*choice.ranking.front().record.speedup == doctest::Approx(2));
        }
    }
}

}  // namespace workbench
