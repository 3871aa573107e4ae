// The search over a space, on a scripted machine whose times are planted.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "choose/planted_space.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/forecast/forecast.hpp"
#include "studies/bench/records.hpp"
#include "studies/choose/ablation.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/cost_model.hpp"
#include "studies/choose/pool.hpp"
#include "studies/choose/search.hpp"
#include "studies/choose/search_page.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The layouts in the order of their first trials.
std::vector<std::string> order_of_kinds(const Choice& choice, std::size_t trials) {
    std::vector<std::string> layouts;
    for (std::size_t i = 1; i < choice.reports.size() && i <= trials; ++i)
        layouts.push_back(choice.reports[i].layouts.front().name);
    return layouts;
}

}  // namespace

TEST_SUITE("search") {
    TEST_CASE("the planted best of some thousand points is found, and no illegal point is tried") {
        const Space space = planted_space();
        REQUIRE(space.count() == 2 * 4 * 256 + 2 * 5 * 256);
        planted_script();
        illegal_builds() = 0;
        const Choice choice = choose_planted(options_for(space, 90));
        CHECK(choice.search.points == space.count());
        CHECK(choice.search.priced == space.count());
        const Timed& first = choice.ranking.front();
        MESSAGE("best ", first.recipe.name, ", ", first.record.seconds, " s, ", choice.search.tried, " tried, ", choice.seconds,
                " s");
        CHECK(first.recipe.layouts.front().entry->name == "kind3");
        CHECK(first.record.seconds <= 1.05e-3);
        CHECK(first.confirmed);
        CHECK(choice.search.tried < 200);
        CHECK(illegal_builds() == 0);
        CHECK_FALSE(choice.search.finished);
        CHECK(choice.seconds > 50);
        CHECK(choice.seconds < 91);
        CHECK(choice.search.narrowed > 0);
    }

    TEST_CASE("the least time of a product is known only of layouts that state their costs") {
        const CsrMatrix matrix = planted_matrix();
        const DeviceProperties host{DeviceKind::host, "a host", 8, 0, 0, 0};
        CostModel model(matrix, Precision::f64, host, nullptr);
        model.set_bandwidth(planted_bandwidth, 8 * planted_bandwidth);
        const auto price = [&](const std::string& layout) {
            return model.price(parse_recipe("[layout]\n" + layout, "r.toml", planted_catalogue()));
        };
        CHECK(price("use = 'kind0'\na = 3\nb = 5\n").least > 0);
        const Price of_plain = price("use = 'plain'\n");
        CHECK(of_plain.product > 0);
        CHECK(of_plain.least == 0);
    }

    TEST_CASE("the first trials take the best point of each kind whose prediction is near") {
        const Space space = planted_space();
        planted_script();
        const Choice choice = choose_planted(options_for(space, 60));
        const std::vector<std::string> first = order_of_kinds(choice, 4);
        // kind2 is predicted to take 4.5 times as long as kind0.
        CHECK(first == std::vector<std::string>{"kind0", "kind1", "kind4", "kind3"});
        std::map<std::string, int> count;
        for (const std::string& layout : order_of_kinds(choice, 40)) ++count[layout];
        CHECK(count.size() == 4);
        CHECK_FALSE(count.contains("kind2"));
    }

    TEST_CASE("a space begins with its own recipes, each of which is timed once, also if it is a point") {
        const TemporaryFolder folder;
        const auto write = [&](const std::string& name, const std::string& layout) {
            std::ofstream(folder.path() / name) << "[recipe]\nname = '" + name + "'\n[layout]\n" + layout;
        };
        std::filesystem::create_directory(folder.path() / "first");
        write("first/good.toml", "use = 'kind3'\na = 6\nb = 4\n");
        write("first/no_point.toml", "use = 'kind3'\na = 6\nb = 99\n");
        write("first/hopeless.toml", "use = 'kind2'\na = 0\nb = 0\n");
        const Space space = planted_space(folder.path(), "start = 'first'\n");
        planted_script();
        const Choice choice = choose_planted(options_for(space, 20));
        CHECK(order_of_kinds(choice, 2) == std::vector<std::string>{"kind3", "kind3"});  // the model prefers kind0
        CHECK(choice.search.priced == space.count());
        CHECK(choice.search.tried > 10);
        const auto named = [&](const std::string& name) {
            return std::find_if(choice.ranking.begin(), choice.ranking.end(),
                                [&](const Timed& one) { return one.recipe.name.starts_with(name); });
        };
        REQUIRE(named("first/good.toml") != choice.ranking.end());
        REQUIRE(named("first/good.toml")->point);
        CHECK(space.recipe(*named("first/good.toml")->point).name == "kind3 a=6 b=4");
        CHECK(named("kind3 a=6 b=4") == choice.ranking.end());  // it is the same recipe
        CHECK(named("first/hopeless.toml") == choice.ranking.end());
        REQUIRE(named("first/no_point.toml") != choice.ranking.end());
        CHECK_FALSE(named("first/no_point.toml")->point);
        CHECK(choice.not_timed.empty());
    }

    TEST_CASE("a search continues from its log: nothing is tried twice, and the choice is as good") {
        const Space space = planted_space();
        std::vector<std::string> lines;
        planted_script();
        SearchLog log = log_into(lines);
        ChooseOptions options = options_for(space, 20);
        options.log = &log;
        const Choice begun = choose_planted(options);
        REQUIRE(lines.size() > 20);
        std::set<std::string> before;
        for (const LoggedTrial& one : logged_trials(log_into(lines))) {
            CHECK(one.status == "measured");
            REQUIRE(one.record);
            CHECK(one.record->seconds > 0);
            if (one.name != "CSR") CHECK(one.facts.price_seconds > 0);
            if (one.name != "CSR") CHECK(one.facts.point);
            const auto timed = std::find_if(begun.ranking.begin(), begun.ranking.end(),
                                            [&](const Timed& other) { return other.recipe.name == one.name; });
            if (timed != begun.ranking.end()) CHECK(one.facts.predicted_seconds == timed->predicted_seconds);
            before.insert(one.name);
        }
        const std::size_t count = lines.size();
        planted_script();
        SearchLog again = log_into(lines);
        options.log = &again;
        const Choice continued = choose_planted(options);
        CHECK(continued.search.logged == begun.ranking.size() - 1);
        CHECK(continued.search.tried > continued.search.logged);
        CHECK(search_text(continued, options)
                  .find(std::to_string(continued.search.tried) + " recipes were tried, " +
                        std::to_string(continued.search.logged) + " of them in earlier runs, ") != std::string::npos);
        std::set<std::string> finalists;
        for (std::size_t i = count; i < lines.size(); ++i) {
            const std::string name = name_in_line(lines[i]);
            if (before.contains(name)) finalists.insert(name);  // only the baseline and finalists
        }
        CHECK(finalists.size() <= 4);
        CHECK(continued.ranking.front().record.seconds <= begun.ranking.front().record.seconds);
        CHECK(continued.ranking.front().confirmed);

        // With the whole search in the log, the choice is as good at once.
        planted_script();
        SearchLog whole = log_into(lines);
        options.log = &whole;
        options.budget_seconds = 1;
        CHECK(choose_planted(options).ranking.front().record.seconds <= continued.ranking.front().record.seconds);
    }

    TEST_CASE("the points of a log are found again, also if the space lists them in another order") {
        std::vector<std::string> lines;
        for (const char* values : {"[6, 7, 9]", "[9, 7, 6]", "[7, 6]"}) {
            const Space space =
                parse_space(std::string("[space]\nname = 's'\n[layout]\nuse = 'kind3'\nb = 2\na = ") + values + "\n",
                            "spaces/s.toml", planted_catalogue());
            planted_script();
            SearchLog log = log_into(lines);
            ChooseOptions options = options_for(space, 100);
            options.log = &log;
            const Choice choice = choose_planted(options);
            CHECK(choice.ranking.size() == 4);
            std::uint64_t points = 0;
            for (const Timed& one : choice.ranking) {
                if (!one.point) continue;
                ++points;
                CHECK(identity_of_trial(space.recipe(*one.point)) == one.identity);
            }
            CHECK(points == space.count());
        }
    }

    TEST_CASE("first trials of a search over a space are short") {
        const Space space = parse_space("[space]\nname = 's'\n[layout]\nuse = 'kind3'\na = [6, 9]\nb = 2\n", "spaces/s.toml",
                                        planted_catalogue());
        ChooseOptions options = options_for(space, 100);
        options.confirm = false;
        const auto samples = [&] {
            planted_script();
            std::set<std::size_t> counts;
            for (const RunReport& report : choose_planted(options).reports) {
                for (const KernelOutcome& kernel : report.kernels) counts.insert(kernel.timing.samples.size());
            }
            return counts;
        };
        CHECK(*samples().begin() == 7);  // a third of 20
        options.timing.minimum_samples = 9;
        CHECK(*samples().begin() == 5);
    }

    TEST_CASE("the best points of a large space are candidates, and the best of each kind") {
        const Space space = planted_space();
        ChooseOptions options = options_for(space, 100);
        const auto price_of = [](const Recipe& recipe) {
            const Parameters& layout = recipe.layouts.front().parameters;
            Price price;
            price.product = static_cast<double>(16 * layout.integer("a") + layout.integer("b") + 1);
            return price;
        };
        Pool pool(options, price_of);
        SearchCount count;
        CHECK(pool.add_points(
                      space, [] { return false; }, count)
                  .empty());
        CHECK(count.priced == space.count());
        CHECK(pool.size() == 4096);
        CHECK(space.count() > 4096);
        // 18 points have each of the costs 1 to 256.
        std::map<double, int> points;
        for (const PricedRecipe& one : pool.candidates()) ++points[one.cost];
        CHECK(points.size() == 228);
        for (int cost = 1; cost <= 227; ++cost) CHECK_MESSAGE(points[cost] == 18, cost);
    }

    TEST_CASE("a wrong result in the log is reported by the search that continues it") {
        const Space space = parse_space("[space]\nname = 's'\n[layout]\nuse = 'bad'\nkernel.kokkos = 'wrong'\n",
                                        "spaces/s.toml", planted_catalogue());
        std::vector<std::string> lines;
        ChooseOptions options = options_for(space, 100);
        for (const bool continued : {false, true}) {
            planted_script();
            SearchLog log = log_into(lines);
            options.log = &log;
            const Choice choice = choose_planted(options);
            CHECK(choice.search.logged == (continued ? 1 : 0));
            CHECK(choice.wrong);
            REQUIRE(choice.not_timed.size() == 1);
            CHECK(choice.not_timed[0].reason.starts_with("WRONG RESULT"));
        }
    }

    TEST_CASE("a recipe whose files were edited since is tried again") {
        const Space space = planted_space();
        std::vector<std::string> lines;
        ChooseOptions options = options_for(space, 20);
        planted_script();
        SearchLog log = log_into(lines);
        options.log = &log;
        (void)choose_planted(options);
        std::vector<std::string> edited = lines;
        for (std::string& line : edited) line.insert(line.find("},\"status\""), R"(,"files":"kernel.cpp 1")");
        for (const bool stale : {false, true}) {
            planted_script();
            SearchLog again = log_into(stale ? edited : lines);
            again.add = [](const std::string&) {};
            options.log = &again;
            CHECK((choose_planted(options).search.logged == 0) == stale);
        }
    }

    TEST_CASE("the lines of a log are those of a bench") {
        const TemporaryFolder folder;
        std::vector<std::string> lines;
        const Space space = planted_space();
        planted_script();
        SearchLog log = log_into(lines);
        ChooseOptions options = options_for(space, 3);
        options.log = &log;
        const Choice choice = choose_planted(options);
        std::string text;
        for (const std::string& line : lines) text += line + '\n';
        const auto file = folder.path() / "log.jsonl";
        std::ofstream(file) << text;
        std::vector<Record> records;
        CHECK(add_records({file}, records).empty());
        CHECK(records.size() == choice.ranking.size());
        for (const Record& record : records) CHECK(record.matrix == "a.mtx");
    }

    TEST_CASE("the log of another matrix, device or precision is refused") {
        std::vector<std::string> lines;
        const Space space = planted_space();
        planted_script();
        SearchLog log = log_into(lines);
        ChooseOptions options = options_for(space, 1);
        options.log = &log;
        (void)choose_planted(options);
        const auto message = [&](const std::function<void(SearchLog&)>& change) {
            SearchLog other = log_into(lines);
            change(other);
            return message_of<RecipeError>([&] { (void)logged_trials(other); });
        };
        CHECK(message([](SearchLog& one) { one.key.matrix = "b.mtx"; }) ==
              "log.jsonl:1: this line belongs to another search: expected the matrix \"b.mtx\", found \"a.mtx\"; name another "
              "--log");
        CHECK(message([](SearchLog& one) { one.key.device = "a GPU"; }).find("expected the device \"a GPU\", found") !=
              std::string::npos);
        CHECK(message([](SearchLog& one) {
                  one.key.software = "Eigen 4";
              }).find("expected the versions \"Eigen 4\", found null") != std::string::npos);
        CHECK(message([](SearchLog& one) { one.key.precision = Precision::f32; }).find("expected the precision \"f32\"") !=
              std::string::npos);
        CHECK(message([](SearchLog& one) { one.lines.emplace_back("{}"); }) ==
              "log.jsonl:" + std::to_string(lines.size() + 1) + ": this is not a line of a search; name another --log");
    }

    TEST_CASE("if the time does not suffice to price all points, those that are priced are spread evenly") {
        const Space space = planted_space();
        planted_script();
        ChooseOptions options = options_for(space, 60);
        const Clock clock = scripted_clock();
        bool pricing = false;
        options.progress = [&](const std::string& step) { pricing = step.starts_with("pricing"); };
        options.timing.clock.seconds = [&, clock] {
            if (pricing) script().now += 0.5;
            return clock.seconds();
        };
        const Choice choice = choose_planted(options);
        CHECK(choice.search.priced > 300);
        CHECK(choice.search.priced < space.count() / 2);
        CHECK(choice.search.pricing_seconds < 14);
        CHECK(search_text(choice, options).find(" of the 4,608 points of the space, spread evenly, in 13.0 s. ") !=
              std::string::npos);
        CHECK(choice.ranking.front().recipe.layouts.front().entry->name == "kind3");
    }

    TEST_CASE("a search without a limit ends when nothing promising is left") {
        const Space space = parse_space(
            "[space]\nname = 's'\n[layout]\nuse = { sweep = [{ use = 'kind0', a = [0, 3], b = 5 }, { use = 'kind2', a = "
            "[200, 201], b = 2 }] }\n",
            "spaces/s.toml", planted_catalogue());
        planted_script();
        const ChooseOptions options = options_for(space, 1000);
        const Recipe hopeless = parse_recipe("[recipe]\nname = 'beside'\n[layout]\nuse = 'kind2'\na = 100\nb = 5\n",
                                             "beside.toml", planted_catalogue());
        const Choice choice = choose_planted(options, {hopeless});
        CHECK(choice.search.finished);
        CHECK(choice.not_timed.empty());  // the budget is not the reason
        CHECK(choice.search.tried == 3);  // CSR and both points of kind0; kind2 is predicted to take twenty times as long
        CHECK(search_text(choice, options).ends_with("nothing promising is left."));
    }

    TEST_CASE("only finalists that are near the best are timed again at the end") {
        const Space space = parse_space(
            "[space]\nname = 's'\n[layout]\nuse = { sweep = [{ use = 'kind3', a = 6, b = [2, 3] }, { use = 'kind0', a = 3, b = "
            "5 }] "
            "}\n",
            "spaces/s.toml", planted_catalogue());
        planted_script();
        const Choice choice = choose_planted(options_for(space, 100));
        REQUIRE(choice.ranking.size() == 4);
        CHECK(choice.ranking[0].recipe.name == "kind3 b=2");
        CHECK(choice.ranking[0].confirmed);
        CHECK(choice.ranking[1].confirmed);        // 3 % slower
        CHECK_FALSE(choice.ranking[2].confirmed);  // 3.7 times as slow
    }

    TEST_CASE("the baseline is chosen if the only faster recipe loses its advantage") {
        const Space space =
            parse_space("[space]\nname = 's'\n[layout]\nuse = 'kind3'\na = 6\nb = 2\n", "spaces/s.toml", planted_catalogue());
        planted_script();
        std::deque<double>& usual = script().seconds["run usual"];
        usual.assign(400, 8e-3);
        ChooseOptions options = options_for(space, 100);
        options.progress = [&](const std::string& step) {
            if (step.starts_with("timing the finalists")) script().seconds["run usual"] = {1e-3};
        };
        const Choice choice = choose_planted(options);
        CHECK(choice.stay);
        CHECK(choice.ranking.front().recipe.name == "CSR");
    }

    TEST_CASE("without a stage any kernel of the layout may run, not only the winner's") {
        const Space space =
            parse_space("[space]\nname = 's'\n[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'two'\nkernel.kokkos = 'slow'\n",
                        "spaces/s.toml", planted_catalogue());
        planted_script();
        script().seconds["run slow"] = {4e-3};
        script().seconds["run fast"] = {1e-3};
        ChooseOptions options = options_for(space, 100);
        options.ablate = true;
        const Choice choice = choose_planted(options);
        const Timed& first = choice.ranking.front();  // faster than the winner before
        CHECK(first.recipe.name == "reverse, two, without reverse");
        CHECK(first.record.kernel == "fast");
    }

    TEST_CASE("a kernel that is wrong each time its recipe is timed is listed once") {
        const Space space = parse_space("[space]\nname = 's'\n[layout]\nuse = 'mixed'\n", "spaces/s.toml", planted_catalogue());
        planted_script().seconds["run eigen"] = {1e-3};
        ChooseOptions options = options_for(space, 100);
        options.backends = {Backend::kokkos, Backend::eigen};
        const Choice choice = choose_planted(options);
        CHECK(choice.ranking.front().record.kernel == "eigen");
        CHECK(choice.ranking.front().confirmed);
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].reason.starts_with("WRONG RESULT of kernel wrong: "));
    }

    TEST_CASE("crossings have the first places of either point") {
        CHECK(crossings({1, 2, 3}, {4, 5, 6}) == std::vector<SpacePoint>{{1, 5, 6}, {4, 2, 3}, {1, 2, 6}, {4, 5, 3}});
    }

    TEST_CASE("rank correlations give equal values their mean rank") {
        const std::optional<double> correlation = rank_correlation_of({{1, 1}, {1, 2}, {2, 3}, {3, 3}});
        REQUIRE(correlation);
        CHECK(*correlation == doctest::Approx(4 / 4.5));
        CHECK_FALSE(rank_correlation_of({{1, 1}, {1, 2}, {1, 3}}));
    }

    TEST_CASE("what each stage of the winner is worth") {
        // `reverse` makes the kernel slower to prepare only; without `halve`, kind4 is not legal.
        const Space space = parse_space(
            "[space]\nname = 's'\n[[stage]]\nuse = 'reverse'\n[[stage]]\nuse = 'halve'\n[layout]\nuse = 'kind4'\na = [6, 7]\nb "
            "= 2\n",
            "spaces/s.toml", planted_catalogue());
        planted_script();
        ChooseOptions options = options_for(space, 100);
        options.ablate = true;
        const Choice choice = choose_planted(options);
        REQUIRE(choice.without.size() == 2);
        CHECK(choice.without[0].stage == "reverse");
        REQUIRE(choice.without[0].seconds);
        CHECK(*choice.without[0].seconds == doctest::Approx(3.5e-3));
        CHECK(choice.without[1].stage == "halve");
        CHECK_FALSE(choice.without[1].seconds);
        const std::string text = choice_recipe(choice, options);
        CHECK(
            text ==
            "# reverse, halve, kind4 a=6 (fast) is 2.29 x as fast as CSR (usual); it pays after 23 products.\n"
            "# A product takes 3.50 ms; preparing it takes 100 ms.\n"
            "# The model priced all 2 points of the space in 0 us. 4 recipes were tried, 4 timed; nothing promising is left.\n"
            "# Chosen by workbench choose for f64 on a host.\n"
            "[recipe]\nname = \"reverse, halve, kind4 a=6\"\n\n[matrix]\nnode_size = 1\n\n"
            "# Without this stage: 3.50 ms instead of 3.50 ms, 1.00 times as long, within noise.\n"
            "[[stage]]\nuse = \"reverse\"\n\n"
            "# This stage cannot be left out: layout 'kind4' needs a partition, which no earlier stage provides.\n"
            "[[stage]]\nuse = \"halve\"\n\n"
            "# The fastest recipe with another layout, CSR (csr), takes 8.00 ms instead of 3.50 ms, 2.29 times as long.\n"
            "[layout]\nuse = \"kind4\"\na   = 6\nb   = 2\n\n[kernel]\nkokkos = \"fast\"\n");
        CHECK(parse_recipe(text, "winner.toml", planted_catalogue()).layouts.front().entry->name == "kind4");
        for (const Interval apart : {Interval{1, 2}, Interval{3, 4}}) {  // the winner's is at 2.29
            Choice clear = choice;
            clear.without[0].interval = apart;
            CHECK(choice_recipe(clear, options).find("within noise") == std::string::npos);
        }
    }

    TEST_CASE("a recipe that is the winner without a stage keeps the name and the place that it has") {
        new_script().seconds = {{"run usual", {16}}, {"run fast", {4}}};
        const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1.5}, {1, 0, 2.5}, {1, 1, 3.5}});
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        ChooseOptions options;
        options.backends = {Backend::kokkos};
        options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
        const auto timed = [](const std::string& name, const std::string& stage) {
            Timed one;
            one.recipe = parse_recipe("[recipe]\nname = '" + name + "'\n" + stage + "[layout]\nuse = 'plain'\n", "t.toml",
                                      scripted_catalogue());
            one.identity = identity_of_trial(one.recipe);
            return one;
        };
        Choice choice;
        Trials trials(matrix, scripted_catalogue(), {host}, options, choice);
        choice.ranking = {timed("winner", "[[stage]]\nuse = 'reverse'\n"), timed("known", "")};
        const auto without = stages_left_out(trials, scripted_catalogue(), choice, options, Stopwatch(scripted_clock()));
        REQUIRE(without.size() == 1);
        REQUIRE(choice.ranking.size() == 2);
        CHECK(choice.ranking[1].recipe.name == "known");
        CHECK(choice.ranking[1].record.seconds == without[0].seconds);
        options.budget_seconds = 0;
        const auto late = stages_left_out(trials, scripted_catalogue(), choice, options, Stopwatch(scripted_clock()));
        REQUIRE(late.size() == 1);
        CHECK(late[0].reason == "the budget was spent");
        CHECK_FALSE(late[0].seconds);
    }
}

}  // namespace workbench
