// Choosing a recipe on a scripted machine with given times and bytes; the expected order, budget, noise and prices are worked
// out by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/choose/choose.hpp"
#include "pipeline/choose/rank_choice.hpp"
#include "pipeline/choose/search_page.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/failure.hpp"
#include "pipeline/contract/forecast.hpp"
#include "support/golden.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

CsrMatrix example_matrix() {
    return csr_from_entries(
        4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}, {2, 0, 4.5}, {2, 3, 5.5}, {3, 1, 6.5}, {3, 3, 0.25}});
}

Recipe recipe_of(const std::string& text) { return parse_recipe(text, "recipes/test.toml", scripted_catalogue()); }

Recipe csr() { return recipe_of("[recipe]\nname = 'CSR'\n[layout]\nuse = 'csr'\n"); }

Recipe plain(const std::string& name, const std::string& kernel, const std::string& stage = "") {
    const std::string first = stage.empty() ? "" : "[[stage]]\nuse = '" + stage + "'\n";
    return recipe_of("[recipe]\nname = '" + name + "'\n" + first + "[layout]\nuse = 'plain'\n[kernel]\nkokkos = '" + kernel +
                     "'\n");
}

ChooseOptions options_of(double budget = 1e9) {
    ChooseOptions options;
    options.budget_seconds = budget;
    options.backends = {Backend::kokkos};
    options.confirm = false;
    options.timing = {CacheState::cold, 5, 0, 1e9, scripted_clock()};
    return options;
}

Choice choose(const std::vector<Recipe>& recipes, const ChooseOptions& options, const Catalogue& known,
              const CsrMatrix& matrix = example_matrix()) {
    ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {376, 752});
    return choose(matrix, known, {host}, recipes, options);
}

Choice choose(const std::vector<Recipe>& recipes, const ChooseOptions& options, const CsrMatrix& matrix = example_matrix()) {
    return choose(recipes, options, scripted_catalogue(), matrix);
}

/// By the number of a foreseen layout.
std::map<std::int64_t, LayoutCost>& foreseen_costs() {
    static std::map<std::int64_t, LayoutCost> costs;
    return costs;
}

/// With a layout `foreseen`: plain, whose cost is foreseen_costs()[number].
const Catalogue& foreseen_catalogue() {
    static const Catalogue known = [] {
        Catalogue all = scripted_catalogue();
        LayoutEntry layout = *all.find_layout("plain");
        layout.name = "foreseen";
        layout.parameters = {integer_parameter("number", required, at_least(0), "of its cost")};
        layout.predict = [](const PatternForecast&, const Parameters& parameters, Precision) {
            return foreseen_costs().at(parameters.integer("number"));
        };
        all.layouts.push_back(std::move(layout));
        return all;
    }();
    return known;
}

/// A recipe with the kernel `fast`, whose layout states that it moves these bytes.
Recipe foreseen(const std::string& name, int number, std::int64_t bytes) {
    foreseen_costs()[number] = {.slots = 1, .array_bytes = bytes, .exact = true};
    return parse_recipe("[recipe]\nname = '" + name + "'\n[layout]\nuse = 'foreseen'\nnumber = " + std::to_string(number) +
                            "\n[kernel]\nkokkos = 'fast'\n",
                        "recipes/test.toml", foreseen_catalogue());
}

using Names = std::vector<std::string>;

Names names_of(const Choice& choice) {
    Names names;
    for (const Timed& one : choice.ranking) names.push_back(one.recipe.name);
    return names;
}

/// The recipes that were timed, in the order of their trials.
Names order_of(const Choice& choice) {
    Names names;
    for (const RunReport& report : choice.reports) names.push_back(report.recipe_name);
    return names;
}

Names not_timed_of(const Choice& choice) {
    Names names;
    for (const NotTimed& one : choice.not_timed) names.push_back(one.recipe + ": " + one.reason);
    return names;
}

const MatrixReport matrix_report{"a.mtx", 4, 4, 7, 0};

/// A product of the baseline takes 16 s. `fast` takes 2, 4, 4, 4, 8 s in its five rounds and 500 s to prepare; `slow` takes 3,
/// 5, 5, 5, 5 s and 1 s: their intervals overlap.
void script_a_tie() {
    Script& script = new_script();
    script.seconds["run usual"] = {16};
    const int before = ExactProblem(example_matrix()).vector_count() + 4;  // products of verifying and preparing
    const auto samples = [&](const std::string& kernel, const std::vector<double>& each) {
        std::deque<double>& seconds = script.seconds["run " + kernel];
        seconds.assign(before, 1);
        seconds.insert(seconds.end(), each.begin(), each.end());
    };
    samples("fast", {2, 4, 4, 4, 8});
    samples("slow", {3, 5, 5, 5, 5});
    script.seconds["prepare fast"] = {500};
    script.seconds["prepare slow"] = {1};
}

/// What the table says under "pays after", by row.
Names last_column_of(const Choice& choice, const ChooseOptions& options) {
    Names cells;
    std::istringstream lines(choice_text(choice, options, matrix_report));
    for (std::string line; std::getline(lines, line);) {
        const bool is_row = line.size() > 3 && line.starts_with("  ") && std::isdigit(static_cast<unsigned char>(line[2])) != 0;
        if (is_row) cells.push_back(line.substr(line.rfind(' ') + 1));
    }
    return cells;
}

void compare_choice(const std::string& name, const std::string& text) {
    compare_with_golden(fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/bench" / name, text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
}

}  // namespace

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
        const std::string row =
            fmt::format("  2=  {}  test.toml  4.00 s  4.00 (2.00-8.00)   500 s          42\n", choice.ranking[1].recipe.name);
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

    TEST_CASE("a wrong kernel is reported once, even if another kernel of its recipe is correct") {
        Script& script = new_script();
        script.seconds["run usual"] = {4};
        script.seconds["run coarse"] = {2};
        const Choice choice = choose({csr(), recipe_of("[recipe]\nname = 'B'\n[layout]\nuse = 'bad'\n")}, options_of());
        CHECK(names_of(choice) == Names{"B", "CSR"});
        CHECK(choice.ranking[0].record.kernel == "coarse");
        CHECK(choice.wrong);
        REQUIRE(choice.not_timed.size() == 2);
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

    TEST_CASE("the JSON contains the text's figures and the reports") {
        script_a_tie();
        const ChooseOptions options = options_of();
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
        compare_with_golden(fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/bench/choose_page.html",
                            search_page(choice, options, matrix_report, "workbench choose"));

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
        script().interruptions["run usual"] = 2;
        const Choice choice = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        const auto count = [&](const std::string& begin) {
            const auto& all = choice.ranking.front().warnings;
            return std::count_if(all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(begin); });
        };
        CHECK(count("csr usual f64: interrupted 10 times in 5 samples") == 1);
        CHECK(count("plain fast") == 0);
        script_a_tie();
        script().interruptions["run slow"] = 2;
        const Choice other = choose({csr(), plain("F", "fast"), plain("S", "slow")}, options_of());
        CHECK(choice_text(other, options_of(), matrix_report).find("\n  warning: plain slow f64: interrupted 10 times") !=
              std::string::npos);
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
            recipes.push_back(
                load_recipe(fs::path(WORKBENCH_SOURCE_DIR) / "recipes" / (std::string(name) + ".toml"), catalogue()));
        }
        const MatrixChoice matrix = generated_matrix("laplace2d:nx=9", {}, catalogue());
        const auto names = [&](Orders orders) {
            Names all;
            for (const Recipe& recipe : candidates_of(catalogue(), recipes, matrix, orders)) {
                CHECK(recipe.matrix == matrix);
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
        const fs::path sell = fs::path(WORKBENCH_SOURCE_DIR) / "recipes/sell.toml";
        const std::vector<Recipe> candidates =
            candidates_of(catalogue(), load_points(sell, catalogue(), changes).points, {}, Orders::own);
        REQUIRE(candidates.size() == 4);
        CHECK(candidates[2].name == "Sliced ELL: slice_height=8");
        CHECK(candidates[3].name == "Sliced ELL: slice_height=16");
    }
}

}  // namespace workbench
