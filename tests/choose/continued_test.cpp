// Searches that continue earlier ones, and what trials share.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "choose/planted_space.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/search.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

TEST_SUITE("search") {
    TEST_CASE("what an earlier search has timed is marked: in its space, beside it, and without it") {
        const Space space = parse_space("[space]\nname = 's'\n[layout]\nuse = 'kind3'\na = [6, 7]\nb = 2\n", "spaces/s.toml",
                                        planted_catalogue());
        const Recipe beside = parse_recipe("[recipe]\nname = 'beside'\n[layout]\nuse = 'kind0'\na = 3\nb = 5\n", "beside.toml",
                                           planted_catalogue());
        std::vector<std::string> lines;
        const auto search = [&](bool in_space) {
            planted_script();
            SearchLog log = log_into(lines);
            ChooseOptions options = options_for(space, 100);
            options.confirm = false;
            options.log = &log;
            if (!in_space) options.space = nullptr;
            return choose_planted(options, {beside});
        };
        for (const Timed& one : search(true).ranking) CHECK_FALSE(one.logged);
        for (const bool in_space : {true, false}) {
            const Choice continued = search(in_space);
            CHECK(continued.search.logged == 3);
            CHECK(continued.ranking.size() == 4);
            for (const Timed& one : continued.ranking) {
                CAPTURE(one.recipe.name);
                CHECK(one.logged == (one.recipe.name != "CSR"));
                CHECK(one.point.has_value() == (in_space && one.recipe.name.starts_with("kind3")));
            }
        }
    }

    TEST_CASE("a recipe whose pricing ended an earlier process is listed once") {
        const Recipe lost =
            parse_recipe("[recipe]\nname = 'lost'\n[layout]\nuse = 'kind0'\na = 3\nb = 5\n", "lost.toml", planted_catalogue());
        std::vector<std::string> lines;
        SearchLog log = log_into(lines);
        log.unpriced["lost"] = "pricing it: killed by signal 11 (Segmentation fault)";
        const Space space = planted_space();
        ChooseOptions options = options_for(space, 100);
        options.space = nullptr;
        options.log = &log;
        planted_script();
        const Choice choice = choose_planted(options, {lost});
        CHECK(choice.ranking.size() == 1);
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].reason == log.unpriced["lost"]);
    }

    TEST_CASE("a stage that several trials need does not run for each") {
        const Space space =
            parse_space("[space]\nname = 's'\n[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'kind3'\na = [6, 7, 8]\nb = 2\n",
                        "spaces/s.toml", planted_catalogue());
        planted_script().seconds["stage reverse"] = {10};
        const Choice choice = choose_planted(options_for(space, 200));
        CHECK(choice.ranking.size() == 4);
        CHECK(choice.seconds < 30);  // for its price, and for three trials
    }

    TEST_CASE("trials without progress make room for the points with other stages") {
        const Space space = parse_space(
            "[space]\nname = 's'\n[[stage]]\noptional = true\nuse = 'reverse'\n[layout]\nuse = 'even'\na = 0\n"
            "b = [0, 1, 2, 3, 4, 5]\n",
            "spaces/s.toml", planted_catalogue());
        planted_script();
        const Choice choice = choose_planted(options_for(space, 100));
        std::string order;
        for (std::size_t i = 1; i < choice.reports.size(); ++i) order += choice.reports[i].stages.size() > 1 ? 's' : '-';
        CHECK(order.substr(0, 9) == "-s-s--s-s");  // of equal predictions; the best of nine trials are timed again
    }

    TEST_CASE("in the second half, points near good ones are tried before all others: neighbours, and crossings of two") {
        const auto space_of = [](const std::string& stages, const std::string& a) {
            return parse_space("[space]\nname = 's'\n" + stages + "[layout]\nuse = 'even'\nb = 0\na = " + a + "\n",
                               "spaces/s.toml", planted_catalogue());
        };
        const auto stages = [](const std::string& more) {
            std::string text;
            for (const std::string use : {"reverse", "rotate", "halve"}) text += "[[stage]]\nuse = '" + use + "'\n" + more;
            return text;
        };
        std::vector<std::string> lines;
        const auto search = [&](const Space& space, const ReportStep& progress) {
            planted_script();
            SearchLog log = log_into(lines);
            ChooseOptions options = options_for(space, 100);
            options.log = &log;
            options.progress = progress;
            return choose_planted(options);
        };
        even_seconds() = 1e-3;  // of the good points, which earlier searches have found
        (void)search(space_of("", "[0, 2]"), {});
        (void)search(space_of(stages(""), "1"), {});
        even_seconds() = 2e-3;
        const Space space = space_of(stages("optional = true\n"), "[0, 1, 2, 3, 4, 5]");
        REQUIRE(space.count() == 8 * 6);
        bool is_late = false;
        const Choice choice = search(space, [&is_late](const std::string& step) {
            if (is_late || !step.starts_with("trying")) return;
            is_late = true;
            script().now += 60;
        });
        const std::vector<SpacePoint> good{{0, 0, 0, 0}, {0, 0, 0, 2}, {1, 1, 1, 1}};
        std::set<std::string> near;
        for (const SpacePoint& one : good) {
            for (const SpacePoint& point : space.neighbours(one)) near.insert(space.recipe(point).name);
            for (const SpacePoint& point : crossings(one, good.back())) near.insert(space.recipe(point).name);
        }
        CHECK(near.contains(space.recipe({0, 0, 1, 1}).name));
        CHECK(near.contains(space.recipe({1, 1, 0, 2}).name));
        std::set<std::string> tried{"CSR"};
        for (const SpacePoint& one : good) tried.insert(space.recipe(one).name);
        for (const std::string& name : tried) near.erase(name);
        std::set<std::string> first;
        for (const RunReport& report : choice.reports) {
            if (first.size() < near.size() && !tried.contains(report.recipe_name)) first.insert(report.recipe_name);
        }
        CHECK(first == near);
        CHECK(choice.ranking.size() > 1 + good.size() + near.size());
    }
}

}  // namespace workbench
