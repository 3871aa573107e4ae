// Noise that prevents a choice, on a machine with scripted times.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "choose/scripted_choices.hpp"
#include "studies/choose/rank_choice.hpp"

namespace workbench {
namespace {

/// A product of the baseline takes 16 s; of the others, `noisy` products take 4 and 64 s by turns, and later ones `later` s.
void script_noise(int noisy, double later) {
    Script& script = new_script();
    script.seconds["run usual"] = {16};
    for (const char* kernel : {"run fast", "run slow"}) {
        std::deque<double>& seconds = script.seconds[kernel];
        for (int i = 0; i < noisy; ++i) seconds.push_back(i % 2 == 0 ? 4 : 64);
        seconds.push_back(later);
    }
}

ChooseOptions options_with_budget(double seconds) {
    ChooseOptions options = options_of(seconds);
    options.confirm = true;
    return options;
}

const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> all{csr(), plain("F", "fast"), plain("S", "slow")};
    return all;
}

}  // namespace

TEST_SUITE("choose") {
    TEST_CASE("if noise prevents a choice, recipes are timed again until there is one") {
        script_noise(40, 8);
        const ChooseOptions options = options_with_budget(1e6);
        const Choice choice = choose(recipes(), options);
        CHECK_FALSE(choice.stay);
        CHECK_FALSE(choice.undecided);
        CHECK(choice.search.repeated > 0);
        CHECK(choice.ranking.front().record.speedup == 2);
        CHECK(search_text(choice, options).find("Because of noise, recipes were timed again") != std::string::npos);
        for (const int times : {1, 2}) {
            Choice repeated = choice;
            repeated.search.repeated = times;
            CHECK(search_text(repeated, options).ends_with(times == 1 ? " timed again 1 time." : " timed again 2 times."));
        }
    }

    TEST_CASE("if noise goes on, the rest of the budget is spent, and the answer says that there is no choice") {
        script_noise(100000, 8);
        const ChooseOptions options = options_with_budget(20000);
        const Choice choice = choose(recipes(), options);
        CHECK(choice.stay);
        CHECK(choice.undecided);
        CHECK(choice.search.repeated > 0);
        CHECK(choice.seconds >= 20000);
        const std::string answer = answer_of(choice, options);
        CHECK_MESSAGE(answer.starts_with("Noise prevents a choice: it hides whether "), answer);
        CHECK_MESSAGE(answer.find("its speed-up over CSR (usual) is between 0.25 and 4.00") != std::string::npos, answer);
        const auto json = nlohmann::json::parse(choice_json(choice, options, matrix_report, "winner.toml"));
        CHECK(json["undecided"] == true);
        CHECK(json["search"]["timed_again"] == choice.search.repeated);
    }

    TEST_CASE("recipes that take as long as the baseline are no reason to go on") {
        new_script().seconds["run usual"] = {16};
        for (const char* kernel : {"run fast", "run slow"}) script().seconds[kernel] = {16};
        const ChooseOptions options = options_with_budget(1e6);
        const Choice choice = choose(recipes(), options);
        CHECK_FALSE(choice.undecided);
        CHECK(choice.search.repeated == 0);
        CHECK(answer_of(choice, options) == "Stay with CSR: no measured recipe beats it by more than the noise.");
    }

    TEST_CASE("a machine that did other work leaves a recipe undecided") {
        Timed one;
        one.record.verdict = "busy machine";
        CHECK(is_undecided(one));
        one.record.verdict = "too few samples";
        CHECK_FALSE(is_undecided(one));
        one.record.verdict = "within noise";
        one.record.interval = Interval{0.5, 1.09};
        CHECK_FALSE(is_undecided(one));
        one.record.interval = Interval{0.5, 1.1};
        CHECK(is_undecided(one));
    }
}

}  // namespace workbench
