// Which recipe is chosen among those that were timed: ties, prices, noise and the baseline.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "choose/scripted_choices.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/rank_choice.hpp"

namespace workbench {

TEST_SUITE("choose") {
    TEST_CASE("of tied recipes, the one with the earliest break-even is chosen") {
        script_a_tie();
        Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        CHECK(names_of(choice) == Names{"S", "F", "CSR"});
        CHECK(choice.ranking[0].record.speedup == 16.0 / 5);
        CHECK(choice.ranking[0].record.interval == Interval{16.0 / 5, 16.0 / 3});
        CHECK(choice.ranking[0].record.break_even == 1.0 / 11);
        CHECK_FALSE(choice.ranking[0].tied);
        CHECK(choice.ranking[1].record.speedup == 4);
        CHECK(choice.ranking[1].record.break_even == 500.0 / 12);
        CHECK(choice.ranking[1].tied);
        CHECK_FALSE(choice.ranking[2].tied);
        CHECK(choice.bandwidth == 752);  // of reading, which exceeds that of copying and of every kernel
        CHECK(answer_of(choice, options_of()) == "S (slow) is 3.20 x as fast as CSR (usual); it pays after 1 product.");
        compare_choice("choose.txt", choice_text(choice, options_of(), matrix_report));
        choice.ranking[1].recipe.name = std::string(90, 'F') + " end";
        const std::string row = fmt::format("  2=  {}  test.toml  4.00 s  16.0 s  4.00 (2.00-8.00)   500 s          42\n",
                                            choice.ranking[1].recipe.name);
        CHECK(choice_text(choice, options_of(), matrix_report).find(row) != std::string::npos);

        script_a_tie();
        std::deque<double>& slow = script().seconds["run slow"];
        std::fill(slow.end() - 5, slow.end(), 9);  // speed-up 16 / 9, below that of `fast`
        CHECK(names_of(choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of())) == Names{"F", "S", "CSR"});
    }

    TEST_CASE("a recipe whose interval merely overlaps with that of the fastest is not chosen for its price") {
        const auto timed = [](const std::string& name, double speedup, Interval interval, double break_even) {
            Timed one;
            one.recipe.name = name;
            one.record.speedup = speedup;
            one.record.interval = interval;
            one.record.break_even = break_even;
            return one;
        };
        const auto chosen_among = [](std::vector<Timed> ranking) {
            Choice choice;
            choice.ranking = std::move(ranking);
            choice.ranking.front().is_baseline = true;
            rank_choice(choice, options_of());
            return names_of(choice);
        };
        const Timed baseline = timed("CSR", 1, {1, 1}, 0);
        const Timed fastest = timed("fastest", 4, {3, 5}, 100);
        CHECK(chosen_among({baseline, fastest, timed("slower", 2.5, {2, 3.2}, 1)}) == Names{"fastest", "slower", "CSR"});
        CHECK(chosen_among({baseline, fastest, timed("equal", 3.5, {2.8, 4.2}, 1)}) == Names{"equal", "fastest", "CSR"});
    }

    TEST_CASE("winners are timed again until one keeps its advantage") {
        ChooseOptions options = options_of();
        options.confirm = true;
        const std::vector<Recipe> recipes{csr(), plain("F", "fast"), plain("S", "slow")};
        // The second time, `slow` takes 32 s and `fast` 8 s.
        script_a_tie();
        std::deque<double>& slow = script().seconds["run slow"];
        slow.push_back(32);
        const Choice choice = choose(recipes, options);
        CHECK(names_of(choice) == Names{"F", "CSR", "S"});
        CHECK(choice.ranking[0].confirmed);
        CHECK(choice.ranking[0].record.speedup == 2);
        CHECK(choice.ranking[0].record.break_even == 500.0 / 8);
        CHECK_FALSE(choice.ranking[1].confirmed);
        CHECK(choice.ranking[2].confirmed);
        CHECK(choice.ranking[2].record.speedup == 0.5);
        CHECK(choice.reports.size() == 5);
        CHECK(answer_of(choice, options) == "F (fast) is 2.00 x as fast as CSR (usual); it pays after 63 products.");
        CHECK(choice_text(choice, options, matrix_report).find("The first was timed twice") != std::string::npos);
        CHECK(last_column_of(choice, options) == Names{"63", "baseline", "never"});

        // Both lose their advantage.
        script_a_tie();
        script().seconds["run slow"].push_back(16);
        script().seconds["run fast"].push_back(16);
        const Choice none = choose(recipes, options);
        CHECK(none.stay);
        CHECK(names_of(none) == Names{"CSR", "F", "S"});
        CHECK(none.reports.size() == 5);
        CHECK(answer_of(none, options) == "Stay with CSR: no measured recipe beats it by more than the noise.");

        // A tenth of the budget is reserved for confirming.
        Script& script = new_script();
        script.seconds["run usual"] = {1.0 / 1024};
        script.seconds["run fast"] = {1.0 / 2048};
        script.seconds["build plain"] = {10};
        const std::vector<Recipe> two{csr(), plain("A", "fast"), plain("B", "fast", "reverse")};
        options.budget_seconds = 21;  // A is timed after 20 s, more than nine tenths
        CHECK(not_timed_of(choose(two, options)) == Names{"B: not tried within the 21 s budget"});
        options.confirm = false;
        options.budget_seconds = 31;
        CHECK(not_timed_of(choose(two, options)).empty());
    }

    TEST_CASE("for a given number of products, the recipe that saves most is chosen") {
        ChooseOptions options = options_of();
        const std::vector<Recipe> recipes{csr(), plain("F", "fast"), plain("S", "slow")};
        options.products = 100;  // 100 * 12 - 500 = 700; 100 * 11 - 1 = 1099
        script_a_tie();
        CHECK(names_of(choose(recipes, options)) == Names{"S", "F", "CSR"});
        options.products = 1000;  // 11,500; 10,999
        script_a_tie();
        const Choice choice = choose(recipes, options);
        CHECK(names_of(choice) == Names{"F", "S", "CSR"});
        CHECK(answer_of(choice, options) ==
              "F (fast) is 4.00 x as fast as CSR (usual); it pays after 42 products, and 1,000 products save 11,500 s.");
    }

    TEST_CASE("recipes are tied with the chosen one, not with the fastest") {
        ChooseOptions options = options_of();
        options.products = 100;  // 100 * 12 - 500 = 700; 100 * 8 - 1 = 799
        script_a_tie();
        script().seconds["run fast"] = {4};
        script().seconds["run slow"] = {8};
        const Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options);
        CHECK(names_of(choice) == Names{"S", "F", "CSR"});
        for (const Timed& one : choice.ranking) CHECK_FALSE(one.tied);
    }

    TEST_CASE("a recipe that is tied with another one, but not with the first, is not tied") {
        const auto timed = [](const std::string& name, double speedup, const Interval& interval) {
            Timed one{.recipe = csr(), .record = {}};
            one.recipe.name = name;
            one.record.speedup = speedup;
            one.record.interval = interval;
            one.record.verdict = "faster";
            one.record.break_even = 1 / speedup;
            return one;
        };
        Choice choice;
        choice.ranking = {timed("second", 3, {2.5, 3.5}), timed("third", 2, {1.5, 2.75}), timed("first", 4, {3.25, 4.5})};
        rank_choice(choice, options_of());
        CHECK(names_of(choice) == Names{"first", "second", "third"});
        CHECK_FALSE(choice.ranking[0].tied);
        CHECK(choice.ranking[1].tied);
        CHECK_FALSE(choice.ranking[2].tied);
    }

    TEST_CASE("the layouts of a hybrid are explained once, before the first of them") {
        const std::string split = "[[stage]]\nuse = 'split'\nby = 'row_length'\nbounds = [2]\n";
        const auto timed = [](const std::string& name, const std::string& text, double speedup) {
            Timed one{.recipe = parse_recipe(text, "t.toml", catalogue()), .record = {}};
            one.recipe.name = name;
            one.record.seconds = 1 / speedup;
            one.record.speedup = speedup;
            one.record.interval = Interval{speedup, speedup};
            return one;
        };
        Choice choice;
        choice.ranking = {
            timed("H", split + "[[layout]]\nshare = 'bin_0'\nuse = 'csr'\n[[layout]]\nshare = 'bin_1'\nuse = 'ell'\n", 2),
            timed("CSR", "[layout]\nuse = 'csr'\n", 1)};
        choice.ranking.back().is_baseline = true;
        choice.stay = false;
        const std::string text = choice_recipe(choice, options_of());
        const std::size_t at = text.find("# The fastest recipe with another layout, CSR");
        REQUIRE(at != std::string::npos);
        CHECK(at < text.find("[[layout]]"));
        CHECK(text.find("# The fastest recipe", at + 1) == std::string::npos);
    }

    TEST_CASE("the baseline is chosen if no recipe pays") {
        ChooseOptions options = options_of();
        options.products = 41;  // 500 / 12 is 41.67
        script_a_tie();
        const Choice choice = choose({csr(), plain("F", "fast")}, options);
        CHECK(choice.stay);
        CHECK(names_of(choice) == Names{"CSR", "F"});
        CHECK(answer_of(choice, options) ==
              "Stay with CSR: no recipe pays within 41 products; F (fast) is 4.00 x as fast as CSR (usual) and pays after 42.");
        options.products = 42;
        script_a_tie();
        CHECK(names_of(choose({csr(), plain("F", "fast")}, options)) == Names{"F", "CSR"});
    }

    TEST_CASE("the baseline is chosen if all speed-ups are noise") {
        script_a_tie();
        script().seconds["run fast"].back() = 17;  // ratios 8, 4, 4, 4 and 16 / 17
        const Choice choice = choose({csr(), plain("F", "fast"), plain("R", "slow", "refuse"),
                                      recipe_of("[recipe]\nname = 'N'\n[layout]\nuse = 'refusing'\n"),
                                      recipe_of("[recipe]\nname = 'W'\n[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n")},
                                     options_of());
        CHECK(choice.stay);
        CHECK(names_of(choice) == Names{"CSR", "F"});
        CHECK(choice.ranking[1].tied);
        CHECK(choice.wrong);
        CHECK(answer_of(choice, options_of()) == "Stay with CSR: no measured recipe beats it by more than the noise.");
        compare_choice("choose_stay.txt", choice_text(choice, options_of(), matrix_report));
        compare_choice("choose_stay.toml", choice_recipe(choice, options_of()));
    }
}

}  // namespace workbench
