// Choosing a recipe on a scripted machine with given times and bytes; the expected order, budget, noise and prices are worked
// out by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "choose/scripted_choices.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/forecast/forecast.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/rank_choice.hpp"
#include "studies/choose/search_page.hpp"
#include "support/message_of.hpp"

namespace workbench {

TEST_SUITE("choose") {
    TEST_CASE("recipes are tried in the order of their predicted times, and those with too many bytes are left out") {
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        script.seconds["run slow"] = {32};
        // The memory copies 376 and reads 752 bytes per second. A launch takes 10 us.
        const std::vector<Recipe> recipes{csr(), foreseen("S", 1, 752 * 4 + 1), foreseen("T", 2, 752 * 3),
                                          foreseen("F", 3, 376)};
        const Choice choice = choose(recipes, options_of(), foreseen_catalogue());
        CHECK(order_of(choice) == Names{"CSR", "F", "T"});
        CHECK(not_timed_of(choice) == Names{"S: its bytes alone would take longer than the best time"});
        CHECK(choice.not_timed[0].bytes == 752 * 4 + 1);
        // F took 4 s where 1.00001 s were predicted, and so did T, which corrects the prediction.
        REQUIRE(choice.not_timed[0].predicted_seconds);
        CHECK(*choice.not_timed[0].predicted_seconds > (752 * 4 + 1) / 376.0);
        CHECK(choice.baseline_kernel == "usual");
        CHECK(choice.device == "a host");

        // Exactly the best time: tried.
        const std::vector<Recipe> equal{csr(), foreseen("S", 1, 752 * 4), foreseen("F", 3, 376)};
        CHECK(order_of(choose(equal, options_of(), foreseen_catalogue())) == Names{"CSR", "F", "S"});
        // A layout that will refuse the matrix is not built.
        foreseen_costs()[1].unsuitable = "would store too much";
        CHECK(not_timed_of(choose(equal, options_of(), foreseen_catalogue())) == Names{"S: would store too much"});
        // The bandwidth that a kernel reaches counts if it exceeds the measured one.
        script.bytes = {{"fast", 752 * 8}};
        CHECK(choose({csr(), foreseen("F", 3, 376)}, options_of(), foreseen_catalogue()).bandwidth == 1504);
    }

    TEST_CASE("with a number of products, the preparation counts in the order of trials") {
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        // 3,760 and 752 bytes take 10 and 2 s; storing the slots of the second takes longer than all products.
        const std::vector<Recipe> recipes{csr(), foreseen("quick to build", 1, 3760), foreseen("fast", 2, 752)};
        foreseen_costs()[2].slots = 100;
        ChooseOptions options = options_of();
        options.products = 3;
        CHECK(order_of(choose(recipes, options, foreseen_catalogue())) == Names{"CSR", "quick to build", "fast"});
        options.products.reset();
        CHECK(order_of(choose(recipes, options, foreseen_catalogue())) == Names{"CSR", "fast"});
    }

    TEST_CASE("a hybrid moves the bytes of all its shares") {
        const auto host = make_host_device();
        const std::vector<Recipe> recipes{
            parse_recipe("[recipe]\nname = 'CSR'\n[layout]\nuse = 'csr'\n", "csr.toml", catalogue()),
            parse_recipe("[recipe]\nname = 'H'\n[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 1\n"
                         "[[layout]]\nshare = 'long'\nuse = 'ell'\n[[layout]]\nshare = 'short'\nuse = 'csr'\n",
                         "hybrid.toml", catalogue())};
        RunOptions untimed;
        untimed.backends = {Backend::kokkos};
        untimed.timing.minimum_samples = 0;
        untimed.timing.minimum_seconds = 0;
        const RunReport report = Runner(example_matrix(), catalogue(), {*host}, untimed).run(recipes[1], {});
        REQUIRE(report.kernels.size() == 4);  // the baseline, the hybrid, its two shares
        const std::int64_t bytes = report.kernels[1].bytes_to_move;
        CHECK(bytes > std::max(report.kernels[2].bytes_to_move, report.kernels[3].bytes_to_move));

        ChooseOptions options = options_of();
        options.timing = {CacheState::warm, 1, 0};
        options.always = 2;
        const Choice choice = choose(example_matrix(), catalogue(), {*host}, recipes, options);
        const auto hybrid =
            std::find_if(choice.ranking.begin(), choice.ranking.end(), [](const Timed& one) { return one.recipe.name == "H"; });
        REQUIRE((hybrid != choice.ranking.end()));
        CHECK(hybrid->bytes == bytes);
    }

    TEST_CASE("the remaining time is divided among the remaining recipes") {
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        script.seconds["flush"] = {10};
        ChooseOptions options = options_of(2000);
        options.timing.minimum_samples = 20;  // 20 rounds would take 20 * (10 + 4 + 10 + 16) = 800 s
        const std::vector<Recipe> recipes{csr(), plain("F", "fast", "reverse"), plain("G", "fast"),
                                          plain("H", "fast", "rotate_rows")};
        const Choice choice = choose(recipes, options);
        for (const RunReport& report : choice.reports) {
            const std::size_t samples = report.kernels.back().timing.samples.size();
            CHECK(samples >= 5);
            CHECK(samples < 20);
        }
        options.budget_seconds = 1e9;
        CHECK(choose(recipes, options).reports.back().kernels.back().timing.samples.size() == 20);
    }

    TEST_CASE("a stage runs once, and its time is part of the price") {
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        script.seconds["stage reverse"] = {1};
        script.seconds["build plain"] = {2};
        script.seconds["prepare fast"] = {5};
        script.seconds["scatter"] = {0.5};
        const Choice choice = choose({csr(), plain("F", "fast", "reverse")}, options_of());
        CHECK(script.count("stage reverse") == 1);
        const Timed& first = choice.ranking.front();
        CHECK(first.price_seconds == 1 + 2 + 5 + 0.5 + 0.5);
        CHECK(first.record.speedup == 4);
        CHECK(first.record.break_even == 9.0 / 12);
        CHECK(first.saved_seconds(10) == 9 * (10 / 0.75 - 1));  // 10 products save 12 s each, minus a price of 9 s
    }

    TEST_CASE("trials end with the budget") {
        Script& script = new_script();
        script.seconds["run usual"] = {1.0 / 1024};
        script.seconds["run fast"] = {1.0 / 2048};
        script.seconds["build plain"] = {10};  // built twice per recipe: with its own values and with exact ones
        const Choice choice = choose({csr(), plain("A", "fast"), plain("B", "fast", "reverse"),
                                      plain("C", "fast", "rotate_rows"), plain("D", "fast", "rotate_columns")},
                                     options_of(50));
        CHECK(order_of(choice) == Names{"CSR", "A", "B", "C"});  // 20 s each; C ends after the budget
        CHECK(not_timed_of(choice) == Names{"D: not tried within the 50 s budget"});
        CHECK(choice.not_timed[0].predicted_seconds);
        CHECK(choice.seconds > 60);
        CHECK(choice.seconds < 61);
        // A trial that would take more than twice the remaining time does not begin.
        const Choice early = choose({csr(), plain("A", "fast"), plain("B", "fast", "reverse")}, options_of(24));
        CHECK(order_of(early) == Names{"CSR", "A"});
        CHECK(not_timed_of(early) == Names{"B: preparation would exceed the 24 s budget"});
        // The first `always` recipes are timed even beyond the budget.
        script.seconds["build csr"] = {1000};
        CHECK(names_of(choose({csr(), plain("A", "fast")}, options_of(60))) == Names{"CSR"});
        ChooseOptions two = options_of(60);
        two.always = 2;
        script.seconds["run slow"] = {1.0 / 512};
        CHECK(names_of(choose({csr(), plain("S", "slow"), plain("A", "fast")}, two)) == Names{"CSR", "S"});
    }

    TEST_CASE("a wrong kernel is reported once, even if another kernel of its recipe is correct") {
        Script& script = new_script();
        script.seconds["run usual"] = {4};
        script.seconds["run coarse"] = {2};
        script.seconds["run stops"] = {8};  // from the tenth product on; more products follow the timed ones
        const Choice choice = choose({csr(), recipe_of("[recipe]\nname = 'B'\n[layout]\nuse = 'bad'\n")}, options_of());
        CHECK(names_of(choice) == Names{"B", "CSR"});
        CHECK(choice.ranking[0].record.kernel == "coarse");
        CHECK(choice.wrong);
        REQUIRE(choice.not_timed.size() == 3);
        CHECK(choice.not_timed[2].reason.starts_with("WRONG RESULT of kernel stops: "));
        CHECK(choice.not_timed[0].reason.starts_with("WRONG RESULT of kernel wrong: row 3: y = "));
        CHECK(choice.not_timed[1].reason.starts_with("WRONG RESULT of kernel wrong_later: "));
    }

    TEST_CASE("a search that is stopped chooses among the recipes that were timed before") {
        const std::vector<Recipe> recipes{csr(), plain("F", "fast"), plain("S", "slow", "reverse")};
        const auto stopped_at = [&](const std::string& step) {
            script_a_tie();
            ChooseOptions options = options_of();
            options.confirm = true;
            options.progress = [step](const std::string& what) {
                if (what.starts_with(step)) throw Stopped("stopped");
            };
            return choose(recipes, options);
        };
        const Choice choice = stopped_at("trying 3 of 3");
        CHECK(choice.stopped);
        CHECK(names_of(choice) == Names{"F", "CSR"});
        CHECK_FALSE(choice.ranking[0].confirmed);
        CHECK(not_timed_of(choice) == Names{"S: stopped before it was timed"});
        const Choice unconfirmed = stopped_at("timing the winner again");
        CHECK(unconfirmed.stopped);
        CHECK(unconfirmed.ranking.size() == 3);
        CHECK(message_of<Stopped>([&] { (void)stopped_at("trying 1 of 3"); }) ==
              "stopped before anything was timed; nothing was written");
    }

    TEST_CASE("the bytes of a recipe are those of its kernel that moves the fewest") {
        for (const auto& [fast, slow] : {std::pair{100, 200}, std::pair{200, 100}}) {
            Script& script = new_script();
            script.seconds["run usual"] = {16};
            script.seconds["run fast"] = {4};
            script.seconds["run slow"] = {8};
            script.bytes = {{"fast", fast}, {"slow", slow}};
            const Choice choice = choose({csr(), recipe_of("[recipe]\nname = 'P'\n[layout]\nuse = 'plain'\n")}, options_of());
            REQUIRE(choice.ranking.front().recipe.name == "P");
            CHECK(choice.ranking.front().bytes == 100);
        }
    }

    TEST_CASE("the JSON contains the text's figures and the reports") {
        script_a_tie();
        ChooseOptions options = options_of();
        options.complete = [](RunReport& report) { report.machine["os"] = "an OS"; };
        const Choice choice =
            choose({csr(), plain("F", "fast"), plain("S", "slow"), recipe_of("[layout]\nuse = 'refusing'\n")}, options);
        const auto json = nlohmann::json::parse(choice_json(choice, options, matrix_report, "winner.toml"));
        CHECK(json["answer"] == answer_of(choice, options));
        CHECK(json["written"] == "winner.toml");
        CHECK(json["stay"] == false);
        CHECK(json["products"] == nullptr);
        CHECK(json["matrix"]["nonzeros"] == 7);
        CHECK(json["ranking"][0]["recipe"] == "S");
        CHECK(json["ranking"][0]["speedup_interval"] == nlohmann::json{16.0 / 5, 16.0 / 3});
        CHECK(json["ranking"][0]["break_even"] == 1.0 / 11);
        CHECK(json["ranking"][0]["price_seconds"] == 1);
        CHECK(json["ranking"][1]["tied"] == true);
        CHECK(json["ranking"][2]["verdict"] == "baseline");
        CHECK(json["ranking"][2]["speedup_interval"] == nullptr);
        CHECK(json["not_timed"][0]["reason"] == "this matrix has no such layout");
        CHECK(json["not_timed"][0]["bytes_to_move"] == nullptr);
        CHECK(json["runs"].size() == 3);
        for (const auto& run : json["runs"]) CHECK(run["machine"]["os"] == "an OS");
        CHECK(json["precision"] == "f64");
        CHECK(json["bytes_per_second"] == 752);
    }

    TEST_CASE("the page of a search") {
        script_a_tie();
        const ChooseOptions options = options_of();
        Choice choice = choose({csr(), plain("F", "fast"), plain("S & T", "slow"), plain("R", "fast", "reverse"),
                                recipe_of("[layout]\nuse = 'refusing'\n")},
                               options);
        choice.without = {{.stage = "reverse", .seconds = 9, .interval = {}},
                          {.stage = "halve", .seconds = {}, .interval = {}}};
        choice.without.back().reason = "layout 'x' needs a partition";
        const auto page = nlohmann::json::parse(search_document(choice, options, matrix_report, "workbench <choose>"));
        CHECK(page["kind"] == "choose");
        CHECK(page["command"] == "workbench <choose>");
        CHECK(page["sentences"] == nlohmann::json{answer_of(choice, options), search_text(choice, options)});
        auto written = nlohmann::json::parse(choice_json(choice, options, matrix_report, ""));
        written.erase("runs");
        CHECK(page["choice"] == written);
        std::vector<std::pair<double, double>> pairs;
        for (const auto& one : written["ranking"]) pairs.emplace_back(one["predicted_seconds"], one["median_seconds"]);
        std::erase_if(pairs, [](const auto& pair) { return pair.first <= 0; });
        REQUIRE(rank_correlation_of(pairs));
        CHECK(page["correlation"] == *rank_correlation_of(pairs));
        CHECK(written["ranking"][0]["stages"] == nlohmann::json::array());
        CHECK(std::ranges::count_if(written["ranking"],
                                    [](const auto& one) { return one["stages"] == nlohmann::json{"reverse"}; }) == 1);

        choice.search.points = 30;
        while (choice.ranking.size() < 21) choice.ranking.push_back(choice.ranking[1]);
        CHECK(choice_text(choice, options, matrix_report).find("\n  and 1 other, which --json and --log contain\n") !=
              std::string::npos);
        choice.ranking.push_back(choice.ranking[1]);
        CHECK(choice_text(choice, options, matrix_report).find("\n  and 2 others, which --json") != std::string::npos);
        choice.search.tried = 1;
        CHECK(search_text(choice, options).find(" 1 recipe was tried, 22 timed") != std::string::npos);
    }

    TEST_CASE("in f32, everything is chosen and reported in f32") {
        script_a_tie();
        ChooseOptions options = options_of();
        options.precision = Precision::f32;
        const Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options);
        for (const RunReport& report : choice.reports) {
            for (const KernelOutcome& kernel : report.kernels) CHECK(kernel.precision == Precision::f32);
        }
        REQUIRE(!choice.ranking.empty());
        CHECK(choice.ranking.front().record.precision == "f32");
        CHECK(choice.ranking.front().bytes == 188 - 28 - 32);  // the values, x and y take half
        CHECK(choice_text(choice, options, matrix_report).find("\nf32 on a host, cold cache\n") != std::string::npos);
        CHECK(choice_recipe(choice, options).find("# Chosen by workbench choose for f32 on a host.\n") != std::string::npos);
        CHECK(nlohmann::json::parse(choice_json(choice, options, matrix_report, ""))["precision"] == "f32");
    }

    TEST_CASE("warnings are those of the chosen kernel and of the baseline") {
        script_a_tie();
        script().interruptions["run usual"] = 2000;
        const Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        const auto count = [&](const std::string& begin) {
            const auto& all = choice.ranking.front().warnings;
            return std::count_if(all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(begin); });
        };
        CHECK(count("csr usual f64: interrupted 10000 times in 5 samples") == 1);
        CHECK(count("plain fast") == 0);
        CHECK(names_of(choice).front() == "CSR");  // nothing is known to be faster
        script_a_tie();
        script().interruptions["run fast"] = 500;  // of the two the one that is not chosen without this
        script().seconds["run slow"].assign(20, 9);
        const Choice other = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        CHECK(names_of(other) == Names{"S", "F", "CSR"});
        const std::string text = choice_text(other, options_of(), matrix_report);
        CHECK(text.find("busy machine") != std::string::npos);
        CHECK(text.find("warning: plain fast") == std::string::npos);
    }

    TEST_CASE("a rectangular matrix, and one that no recipe suits") {
        new_script().seconds["run usual"] = {1};
        const CsrMatrix wide = csr_from_entries(1, 2, std::vector<Entry>{{0, 1, 1.5}});
        const Choice choice = choose({csr(), plain("F", "fast", "reverse")}, options_of(), wide);
        CHECK(not_timed_of(choice) == Names{"F: needs a square matrix"});
        const Recipe refusing = recipe_of("[recipe]\nname = 'N'\n[layout]\nuse = 'refusing'\n");
        CHECK(message_of<UserError>([&] { (void)choose({refusing}, options_of()); }) ==
              "no recipe suits this matrix, not even N: this matrix has no such layout");
    }

    TEST_CASE("the chosen recipe can be parsed and names the fastest kernel") {
        new_script().seconds["run usual"] = {16};
        script().seconds["run fast"] = {4};
        script().seconds["run slow"] = {8};
        script().seconds["prepare fast"] = {30};
        const Recipe both = recipe_of("[recipe]\nname = 'P'\n[layout]\nuse = 'plain'\n");
        const std::string text = choice_recipe(choose({csr(), both}, options_of()), options_of());
        CHECK(text.starts_with(
            "# P (fast) is 4.00 x as fast as CSR (usual); it pays after 3 products.\n# A product takes 4.00 s; preparing it "
            "takes "
            "30.0 s.\n# 2 recipes were tried, 2 timed; nothing promising is left.\n# Chosen by workbench choose for f64 on a "
            "host.\n[recipe]\n"));
        CHECK(recipe_of(text).layouts.front().kernels == std::map<Backend, std::string>{{Backend::kokkos, "fast"}});
    }

    TEST_CASE("candidates: CSR in two orders, each recipe, and its other order, without duplicates") {
        std::vector<Recipe> recipes;
        for (const char* name : {"bsr", "csr", "ehyb", "nus_jds", "random_csr", "rcm_csr", "rcm_sell", "sell", "sell_c_sigma",
                                 "staircase_sell", "staircase_sell_natural"}) {
            recipes.push_back(load_recipe(
                std::filesystem::path(WORKBENCH_SOURCE_DIR) / "recipes" / (std::string(name) + ".toml"), catalogue()));
        }
        const MatrixChoice matrix = generated_matrix("laplace2d:nx=9", {}, catalogue());
        const auto names = [&](Orders orders) {
            Names all;
            for (const Recipe& recipe : candidates_of(catalogue(), recipes, matrix, orders)) {
                CHECK(recipe.matrix == matrix);
                CHECK(recipe.file.empty() == (recipe.name == "CSR" || recipe.name == "CSR after RCM"));  // of the program
                CHECK(parse_recipe(resolved_recipe(recipe), "again.toml", catalogue()).stages.size() == recipe.stages.size());
                all.push_back(recipe.name);
            }
            return all;
        };
        const Names as_they_are{"CSR",
                                "CSR after RCM",
                                "BSR",
                                "EHYB",
                                "NUS-JDS",
                                "CSR in random order",
                                "SELL-32-16384 after RCM",
                                "Sliced ELL",
                                "SELL-32-1024",
                                "Staircase SELL",
                                "Staircase SELL in natural order"};
        CHECK(names(Orders::own) == as_they_are);
        Names all = as_they_are;
        for (const char* more : {"BSR, natural order", "SELL-32-16384"}) all.emplace_back(more);
        CHECK(names(Orders::others) == all);
        all = as_they_are;
        for (const char* more : {"BSR, natural order", "SELL-32-16384", "Sliced ELL after RCM", "SELL-32-1024 after RCM"}) {
            all.emplace_back(more);
        }
        CHECK(names(Orders::others_of_square) == all);
    }

    TEST_CASE("the bandwidth is that of the device on which the recipes run") {
        for (const bool on_gpu : {false, true}) {
            new_script();
            ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {376, 752});
            ScriptedDevice gpu({DeviceKind::gpu, "a GPU", 4, 1000, 0, 0}, {3000, 4000});
            ChooseOptions options = options_of();
            options.backends = {on_gpu ? Backend::cuda : Backend::kokkos};
            const Choice choice = choose(example_matrix(), scripted_catalogue(), {host, &gpu}, {csr()}, options);
            CHECK(choice.bandwidth == (on_gpu ? 4000 : 752));
            CHECK(choice.device == (on_gpu ? "a GPU" : "a host"));
        }
    }

    TEST_CASE("stages that order the whole matrix, before which a search puts no other order") {
        std::set<std::string> names;
        for (const StageEntry& stage : catalogue().stages) {
            if (stage.orders_all) names.insert(stage.name);
        }
        CHECK(names == std::set<std::string>{"approximate_minimum_degree", "bfs_blocks", "colouring", "column_sort",
                                             "cuthill_mckee", "degree_sort", "gorder", "gray", "king", "louvain",
                                             "metis_partition", "multilevel_partition", "nested_dissection", "rabbit_order",
                                             "random_order", "rcm_blocks", "sloan"});
    }

    TEST_CASE("recipes of one name are candidates with the names of their files") {
        std::vector<Recipe> recipes;
        for (const char* height : {"8", "16"}) {
            recipes.push_back(
                parse_recipe(std::string("[recipe]\nname = 'CSR'\n[layout]\nuse = 'sell'\nslice_height = ") + height,
                             std::string("h") + height + ".toml", catalogue()));
        }
        const std::vector<Recipe> candidates = candidates_of(catalogue(), recipes, {}, Orders::own);
        REQUIRE(candidates.size() == 4);
        CHECK(candidates[0].name == "CSR");
        CHECK(candidates[2].name == "CSR (h8.toml)");
        CHECK(candidates[3].name == "CSR (h16.toml)");
    }

    TEST_CASE("each point of a sweep is a candidate with its own name") {
        RecipeChanges changes;
        changes.sweeps = {"layout.slice_height=8,16"};
        const std::filesystem::path sell = std::filesystem::path(WORKBENCH_SOURCE_DIR) / "recipes/sell.toml";
        const std::vector<Recipe> candidates =
            candidates_of(catalogue(), load_points(sell, catalogue(), changes).points, {}, Orders::own);
        REQUIRE(candidates.size() == 4);
        CHECK(candidates[2].name == "Sliced ELL: slice_height=8");
        CHECK(candidates[3].name == "Sliced ELL: slice_height=16");
    }
}

}  // namespace workbench
