// Sets of recipes and decision rules, with results worked out by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "studies/bench/cover.hpp"
#include "studies/bench/rule.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using Numbers = std::vector<std::size_t>;

Record timed(const std::string& recipe, const std::string& matrix, double seconds,
             const std::map<std::string, double>& metrics = {}) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.device = "host";
    record.precision = "f64";
    record.status = "measured";
    record.seconds = seconds;
    record.metrics = metrics;
    return record;
}

Record untimed(const std::string& recipe, const std::string& matrix, const std::string& status) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.precision = "f64";
    record.status = status;
    return record;
}

/// Records of recipes A, B, ... on matrices m00, m01, ...: a row of seconds per matrix; 0 if the recipe is unsuitable.
std::vector<Record> records_from(const std::vector<std::vector<double>>& seconds,
                                 const std::vector<std::map<std::string, double>>& metrics = {}) {
    std::vector<Record> records;
    for (std::size_t matrix = 0; matrix < seconds.size(); ++matrix) {
        for (std::size_t recipe = 0; recipe < seconds[matrix].size(); ++recipe) {
            const std::string name(1, static_cast<char>('A' + recipe));
            const std::string on = fmt::format("m{:02}", matrix);
            const double time = seconds[matrix][recipe];
            records.push_back(time == 0
                                  ? untimed(name, on, "unsuitable")
                                  : timed(name, on, time, metrics.empty() ? std::map<std::string, double>{} : metrics[matrix]));
        }
    }
    return records;
}

TimeTable table_from(const std::vector<std::vector<double>>& seconds,
                     const std::vector<std::map<std::string, double>>& metrics = {}) {
    const std::vector<TimeTable> tables = time_tables(records_from(seconds, metrics));
    REQUIRE(tables.size() == 1);
    return tables.front();
}

Names names_of(const TimeTable& table, const RecipeSet& set) {
    Names names;
    for (const std::size_t recipe : set.recipes) names.push_back(table.recipes[recipe]);
    return names;
}

/// With the speed-up over a baseline that was timed in the same rounds.
Record beside(Record record, double speedup, const std::string& threads = "1") {
    record.speedup = speedup;
    record.facts["threads"] = threads;
    return record;
}

/// Metrics of matrices: the number of rows.
std::vector<std::map<std::string, double>> rows_of(const std::vector<double>& rows) {
    std::vector<std::map<std::string, double>> metrics;
    for (const double each : rows) metrics.push_back({{"rows", each}});
    return metrics;
}

/// A is the fastest on four small matrices, B on four large ones; the other takes twice the time.
std::vector<std::vector<double>> small_and_large() { return {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {2, 1}, {2, 1}, {2, 1}, {2, 1}}; }

const std::vector<double> eight_sizes{10, 20, 30, 40, 1000, 2000, 3000, 4000};

void compare_cover(const std::string& name, const std::string& text) {
    compare_with_golden(fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/bench" / name, text);
}

/// Records of three recipes on thirteen matrices, of which one suits a single recipe and one fails.
std::vector<Record> collection() {
    std::vector<std::vector<double>> seconds;
    std::vector<std::map<std::string, double>> metrics;
    for (int i = 0; i < 12; ++i) {
        const double size = std::pow(10, 2 + i % 4);
        const double padding = (i % 3) * 0.25;
        const double noise = 1 + 0.01 * (i * 7 % 5);
        seconds.push_back({(1 + padding) * noise, i % 3 == 2 ? 0 : 1.2, i % 4 == 0 ? 0.9 : 1.5});
        if (i == 10) seconds.back() = {0, 1.2, 0};
        metrics.push_back({{"nonzeros", 7 * size}, {"rows", size}, {"sell32_padding", padding}});
    }
    std::vector<Record> records = records_from(seconds, metrics);
    for (Record& record : records) {
        if (record.recipe == "A") record.recipe = "SELL-32-1024 with a name that is cut & more";
    }
    records.push_back(untimed("B", "broken", "failed"));
    return records;
}

}  // namespace

TEST_SUITE("sets of recipes") {
    TEST_CASE("regrets refer to the fastest recipe of each matrix, on its device in its precision") {
        std::vector<Record> records = records_from({{2, 1, 0}, {3, 6, 12}});
        records.push_back(timed("A", "m00", 5));
        records.back().precision = "f32";
        records.push_back(timed("A", "m00", 7));
        records.back().device = "gpu";
        records.push_back(untimed("A", "m07", "failed"));
        const std::vector<TimeTable> tables = time_tables(records);
        REQUIRE(tables.size() == 3);
        CHECK(tables[0].device == "gpu");
        CHECK(tables[2].precision == "f32");
        const TimeTable& table = tables[1];
        CHECK(table.device == "host");
        CHECK(table.recipes == Names{"A", "B", "C"});
        CHECK(table.matrices == Names{"m00", "m01"});
        CHECK(table.unmeasured == 1);
        CHECK(table.log_regrets[0][0] == doctest::Approx(std::log(2)));
        CHECK(table.log_regrets[0][1] == 0);
        CHECK(std::isinf(table.log_regrets[0][2]));
        CHECK(table.log_regrets[1][2] == doctest::Approx(std::log(4)));
    }

    TEST_CASE("times are relative to the baseline beside which they were measured") {
        // The machine was slower while A was measured: the baselines took 4 s and 1.5 s, whose median is 2.75 s.
        std::vector<Record> records{beside(timed("A", "m", 2), 2), beside(timed("B", "m", 1.5), 1), timed("C", "m", 1.1),
                                    beside(timed("D", "m", 1), 1, "2")};
        const std::vector<double> regrets = time_tables(records).at(0).log_regrets.at(0);
        CHECK(regrets[0] == doctest::Approx(std::log(1.375)));
        CHECK(regrets[1] == doctest::Approx(std::log(2.75)));
        CHECK(regrets[2] == doctest::Approx(std::log(1.1)));  // without a baseline
        CHECK(regrets[3] == 0);                               // beside another baseline
        // The baseline of f32 took 90 s, which is that of no time in f64.
        records.push_back(beside(timed("A", "m", 9), 10));
        records.back().precision = "f32";
        const std::vector<TimeTable> tables = time_tables(records);
        REQUIRE(tables.size() == 2);
        CHECK(tables[0].precision == "f64");
        CHECK(tables[0].log_regrets.at(0) == regrets);
    }

    TEST_CASE("a matrix is unmeasured if no device measured it") {
        std::vector<Record> records = records_from({{1, 2}, {1, 2}});
        records.push_back(timed("A", "on the GPU", 1));
        records.back().device = "gpu";
        for (const TimeTable& table : time_tables(records)) CHECK(table.unmeasured == 0);
        records.push_back(untimed("A", "broken", "failed"));
        const std::vector<TimeTable> tables = time_tables(records);
        REQUIRE(tables.size() == 2);
        for (const TimeTable& table : tables) CHECK(table.unmeasured == 1);
    }

    TEST_CASE("the best sets of three matrices, each with its own fastest recipe") {
        // Regrets of A: 1, 2, 4; of B: 8, 1, 2; of C: 8, 4, 1; of D, which is never the fastest: 1.5, 1.5, 1.5.
        const TimeTable table = table_from({{1, 8, 8, 1.5}, {2, 1, 4, 1.5}, {4, 2, 1, 1.5}});
        const std::vector<RecipeSet> sets = cover(table);
        REQUIRE(sets.size() == 3);
        CHECK(names_of(table, sets[0]) == Names{"D"});
        CHECK(sets[0].regret.geometric_mean() == doctest::Approx(1.5));
        // {A, D}: 1, 1.5, 1.5; {A, C}: 1, 2, 1; {A, B}: 1, 1, 2; {B, D}: 1.5, 1, 1.5; {C, D}: 1.5, 1.5, 1. Two sets have 2.
        CHECK(names_of(table, sets[1]) == Names{"A", "B"});
        CHECK(sets[1].regret.geometric_mean() == doctest::Approx(std::cbrt(2)));
        CHECK(sets[1].regret.most() == doctest::Approx(2));
        CHECK(names_of(table, sets[2]) == Names{"A", "B", "C"});
        CHECK(sets[2].regret.geometric_mean() == 1);
        for (const RecipeSet& set : sets) CHECK(set.exact);
    }

    TEST_CASE("serving every matrix comes before regret") {
        // B is the fastest but does not suit one matrix; A takes thrice the time and suits all.
        const TimeTable table = table_from({{3, 1, 9}, {3, 1, 9}, {1, 0, 9}});
        const std::vector<RecipeSet> sets = cover(table);
        REQUIRE(sets.size() == 2);
        CHECK(names_of(table, sets[0]) == Names{"A"});
        CHECK(sets[0].regret.geometric_mean() == doctest::Approx(std::cbrt(9)));
        CHECK(names_of(table, sets[1]) == Names{"A", "B"});
        CHECK(sets[1].regret.geometric_mean() == 1);

        // No recipe serves all three matrices: B leaves one unserved and has less regret than A on those that it serves.
        const TimeTable apart = table_from({{0, 1}, {2, 1}, {1, 0}, {3, 1}});
        const RecipeSet one = best_set(apart, apart.all(), 1);
        CHECK(names_of(apart, one) == Names{"B"});
        CHECK(one.regret.unserved() == 1);
        CHECK(one.regret.geometric_mean() == 1);
        CHECK(best_set(apart, apart.all(), 2).regret.unserved() == 0);
    }

    TEST_CASE("of equal sets the first is taken, and recipes that do not help are left out") {
        const TimeTable table = table_from({{1, 1, 1}, {1, 1, 1}});
        const std::vector<RecipeSet> sets = cover(table);
        REQUIRE(sets.size() == 1);
        CHECK(names_of(table, sets[0]) == Names{"A"});
        CHECK(names_of(table, best_set(table, table.all(), 3)) == Names{"A"});
    }

    TEST_CASE("a note says that no further recipe helps, except below the largest set") {
        const auto note_for = [](std::size_t recipes) {
            std::vector<std::vector<double>> seconds(recipes, std::vector<double>(recipes, 2));
            for (std::size_t i = 0; i < recipes; ++i) seconds[i][i] = 1;  // each recipe is the fastest on one matrix
            const std::string text = cover_tables(records_from(seconds), TableFormat::text);
            return text.find("No further recipe lowers the regret.") != std::string::npos;
        };
        CHECK(note_for(2));
        CHECK(note_for(3));
        CHECK_FALSE(note_for(5));
        CHECK_FALSE(note_for(6));
    }

    TEST_CASE("one recipe, one matrix") {
        const TimeTable one = table_from({{4}, {5}});
        REQUIRE(cover(one).size() == 1);
        CHECK(cover(one)[0].regret.geometric_mean() == 1);
        const TimeTable matrix = table_from({{4, 2, 3}});
        REQUIRE(cover(matrix).size() == 1);
        CHECK(names_of(matrix, cover(matrix)[0]) == Names{"B"});
    }

    TEST_CASE("the greedy search exchanges recipes and says that it is no exact one") {
        // A alone is the best single recipe, but B and C together are perfect.
        const TimeTable table = table_from({{1.4, 1, 8}, {1.4, 1, 8}, {1.4, 8, 1}, {1.4, 8, 1}});
        const RecipeSet exact = best_set(table, table.all(), 2);
        CHECK(exact.exact);
        CHECK(names_of(table, exact) == Names{"B", "C"});
        const RecipeSet greedy = best_set(table, table.all(), 2, 0);
        CHECK_FALSE(greedy.exact);
        CHECK(names_of(table, greedy) == Names{"B", "C"});
        CHECK(greedy.regret.geometric_mean() == 1);
    }

    TEST_CASE("sets of five among 100 recipes are searched greedily, and are hardly worse than those that were hidden") {
        std::mt19937 random(5);
        std::vector<Record> records;
        for (int matrix = 0; matrix < 40; ++matrix) {
            for (int recipe = 0; recipe < 100; ++recipe) {
                const bool is_hidden = recipe % 20 == 7 && recipe / 20 == matrix % 5;
                const double seconds = is_hidden ? 1 : 1.5 + static_cast<double>(random() % 1000) / 1000;
                records.push_back(timed(fmt::format("{:03}", recipe), fmt::format("m{}", matrix), seconds));
            }
        }
        const TimeTable table = time_tables(records).front();
        const std::vector<RecipeSet> sets = cover(table);
        REQUIRE(sets.size() == 4);
        CHECK(sets[2].exact);  // 161,700 sets of three
        CHECK_FALSE(sets[3].exact);
        CHECK(names_of(table, sets[3]) == Names{"007", "027", "047", "067", "087"});
    }

    TEST_CASE("exhaustive search agrees with the comparison of all sets in random tables") {
        std::mt19937 random(11);
        for (int trial = 0; trial < 30; ++trial) {
            std::vector<std::vector<double>> seconds(6, std::vector<double>(6));
            for (auto& row : seconds) {
                for (double& time : row) time = random() % 5 == 0 ? 0 : 1 + random() % 9;
                row[random() % 6] = 3;
            }
            const TimeTable table = table_from(seconds);
            Regret least = best_set(table, table.all(), 1).regret;
            for (std::size_t a = 0; a < table.recipes.size(); ++a) {
                for (std::size_t b = 0; b < table.recipes.size(); ++b) {
                    Regret regret;
                    for (const auto& row : table.log_regrets) regret.add(std::min(row[a], row[b]));
                    if (regret.is_better_than(least)) least = regret;
                }
            }
            const RecipeSet set = best_set(table, table.all(), 2);
            CHECK(set.regret.unserved() == least.unserved());
            CHECK(set.regret.log_sum() == doctest::Approx(least.log_sum()));
        }
    }
}

TEST_SUITE("decision rules") {
    TEST_CASE("thresholds have as few digits as possible") {
        CHECK(roundest_between(40, 1000) == 200);
        CHECK(roundest_between(94, 106) == 100);
        CHECK(roundest_between(0.34, 0.36) == 0.35);
        CHECK(roundest_between(96, 97) == 96.5);
        CHECK(roundest_between(0, 1) == 0.5);
        CHECK(roundest_between(-1, 1) == 0.0);
        CHECK(roundest_between(-3000, -10) == -2000);
        CHECK(roundest_between(1000, 1e9) == 1e6);
        for (const double low : {1.0, 0.1, 123456.789, -7.0}) {
            const double high = std::nextafter(low, 1e9);
            CHECK(roundest_between(low, high) == high);
        }
    }

    TEST_CASE("one condition separates small matrices from large ones") {
        const TimeTable table = table_from(small_and_large(), rows_of(eight_sizes));
        const Rule rule = grow_rule(table, table.all(), {0, 1});
        REQUIRE(rule.size() == 3);
        CHECK(rule[0].metric == "rows");
        CHECK(rule[0].threshold == 200);
        CHECK(rule[rule[0].below].recipe == 0);
        CHECK(rule[rule[0].above].recipe == 1);
        CHECK(rule[rule[0].below].matrices == 4);
        CHECK(rule[rule[0].below].regret.geometric_mean() == 1);
        CHECK(recipe_by(rule, table, 3) == 0);
        CHECK(recipe_by(rule, table, 4) == 1);
        // A matrix exactly at the threshold is not below it.
        const TimeTable close = table_from(small_and_large(), rows_of({1, 1, 1, 1, 2, 2, 2, 2}));
        const Rule at_two = grow_rule(close, close.all(), {0, 1});
        REQUIRE(at_two.size() == 3);
        CHECK(at_two[0].threshold == 2);
        CHECK(recipe_by(at_two, close, 3) == 0);
        CHECK(recipe_by(at_two, close, 4) == 1);
    }

    TEST_CASE("two matrices on either side are enough for a condition, one is not") {
        for (const std::size_t first : {1, 2, 6, 7}) {
            CAPTURE(first);
            std::vector<std::vector<double>> seconds;
            for (std::size_t i = 0; i < eight_sizes.size(); ++i) {
                seconds.push_back(i < first ? std::vector<double>{1, 9} : std::vector<double>{9, 1});
            }
            const TimeTable table = table_from(seconds, rows_of(eight_sizes));
            const Rule rule = grow_rule(table, table.all(), {0, 1});
            const bool splits_as_planned = rule[0].below != 0 && rule[rule[0].below].matrices == static_cast<int>(first);
            CHECK(splits_as_planned == (first == 2 || first == 6));
        }
    }

    TEST_CASE("its regret in the sample and cross-validated, and that of the best single recipe") {
        const TimeTable table = table_from(small_and_large(), rows_of(eight_sizes));
        const std::optional<RuleStudy> study = study_rule(table, 2);
        REQUIRE(study.has_value());
        CHECK(study->set.recipes == Numbers{0, 1});
        CHECK(study->by_rule.in_sample.geometric_mean() == 1);
        // Without any one matrix, the condition is still found, and its threshold lies between 40 and 1000 or, without these,
        // between 30 and 1000 (200) or 40 and 2000 (300): each matrix is on its side.
        CHECK(study->by_rule.cross_validated.geometric_mean() == 1);
        // A and B have the same regret, the root of 2; A is the first. Without a small matrix B is the better one, which takes
        // twice the time there; without a large one A is.
        CHECK(study->single_recipe == 0);
        CHECK(study->single.in_sample.geometric_mean() == doctest::Approx(std::sqrt(2)));
        CHECK(study->single.cross_validated.geometric_mean() == doctest::Approx(2));
        CHECK(study->fastest.in_sample.geometric_mean() == 1);
        CHECK(study->fastest.cross_validated.geometric_mean() == 1);
    }

    TEST_CASE("of sets of one recipe, the fastest of each set is the single recipe") {
        const std::optional<RuleStudy> study = study_rule(table_from(small_and_large(), rows_of(eight_sizes)), 1);
        REQUIRE(study.has_value());
        CHECK(study->set.recipes == Numbers{study->single_recipe});
        CHECK(study->fastest.cross_validated.geometric_mean() == study->single.cross_validated.geometric_mean());
        CHECK(study->by_rule.cross_validated.geometric_mean() == study->single.cross_validated.geometric_mean());
    }

    TEST_CASE("a matrix that contradicts its neighbours costs nothing in the sample that cross-validation does not show") {
        // Eight matrices with one recipe each that is the fastest: C is it on the last matrix alone, where A and B take four
        // times the time. With sets of three, the set of the other matrices does not contain C.
        std::vector<std::vector<double>> seconds = small_and_large();
        for (auto& row : seconds) row.push_back(8);
        seconds.push_back({4, 4, 1});
        std::vector<double> rows = eight_sizes;
        rows.push_back(90000);
        const TimeTable table = table_from(seconds, rows_of(rows));
        const std::optional<RuleStudy> study = study_rule(table, 3);
        REQUIRE(study.has_value());
        CHECK(study->set.recipes == Numbers{0, 1, 2});
        CHECK(study->fastest.in_sample.geometric_mean() == 1);
        CHECK(study->fastest.cross_validated.geometric_mean() == doctest::Approx(std::pow(4, 1.0 / 9)));
        // A leaf has at least two matrices: the last one shares B's leaf.
        CHECK(study->by_rule.in_sample.geometric_mean() == doctest::Approx(std::pow(4, 1.0 / 9)));
        CHECK(study->by_rule.cross_validated.geometric_mean() == doctest::Approx(std::pow(4, 1.0 / 9)));
    }

    TEST_CASE("a condition must gain one percent, and a recipe that does not suit is avoided") {
        std::vector<std::vector<double>> seconds = small_and_large();
        for (auto& row : seconds) {
            if (row[1] == 1) row[0] = 1.019;  // the geometric mean of all becomes 1.0095
        }
        TimeTable table = table_from(seconds, rows_of(eight_sizes));
        CHECK(grow_rule(table, table.all(), {0, 1}).size() == 1);
        for (auto& row : seconds) {
            if (row[1] == 1) row[0] = 1.021;
        }
        table = table_from(seconds, rows_of(eight_sizes));
        CHECK(grow_rule(table, table.all(), {0, 1}).size() == 3);
        for (auto& row : seconds) {
            if (row[1] == 1) row = {0, 1};
            row.push_back(1);  // C serves every matrix and is the best leaf, so that no condition is needed
        }
        table = table_from(seconds, rows_of(eight_sizes));
        CHECK(grow_rule(table, table.all(), {0, 1}).size() == 3);
        const Rule plain = grow_rule(table, table.all(), {0, 1, 2});
        REQUIRE(plain.size() == 1);
        CHECK(plain[0].recipe == 2);
    }

    TEST_CASE("three conditions deep, and no deeper") {
        // In the order of their rows: 32 matrices for A, 16 for B, 8 for A, 4 for B, 2 for A. Each condition splits off the
        // largest group; the fourth, which would separate the last two, is one too many.
        std::vector<std::vector<double>> seconds;
        std::vector<double> rows;
        for (int size = 32, group = 0; size >= 2; size /= 2, ++group) {
            for (int i = 0; i < size; ++i) {
                seconds.push_back(group % 2 == 0 ? std::vector<double>{1, 9} : std::vector<double>{9, 1});
                rows.push_back(static_cast<double>(rows.size()));
            }
        }
        const TimeTable table = table_from(seconds, rows_of(rows));
        const Rule rule = grow_rule(table, table.all(), {0, 1});
        const auto depth = [&rule](auto&& self, std::size_t node) -> int {
            if (rule[node].metric.empty()) return 0;
            return 1 + std::max(self(self, rule[node].below), self(self, rule[node].above));
        };
        CHECK(depth(depth, 0) == 3);
        std::vector<int> sizes;
        for (const RuleNode& node : rule) {
            if (node.metric.empty()) sizes.push_back(node.matrices);
        }
        CHECK(sizes == std::vector<int>{32, 16, 8, 6});
        CHECK(rule.back().recipe == 1);
        CHECK(rule.back().regret.geometric_mean() == doctest::Approx(std::cbrt(9)));
    }

    TEST_CASE("a metric that some matrices lack is not used, and of equally good ones the most familiar") {
        std::vector<std::map<std::string, double>> metrics = rows_of(eight_sizes);
        for (auto& each : metrics) each["columns"] = each["a_metric"] = each["rows"];
        CHECK(
            grow_rule(table_from(small_and_large(), metrics), table_from(small_and_large(), metrics).all(), {0, 1})[0].metric ==
            "rows");
        metrics[5].erase("rows");
        const TimeTable table = table_from(small_and_large(), metrics);
        CHECK(grow_rule(table, table.all(), {0, 1})[0].metric == "a_metric");
        const TimeTable none = table_from(small_and_large());
        CHECK(grow_rule(none, none.all(), {0, 1}).size() == 1);
    }

    TEST_CASE("seven matrices give no rule") {
        std::vector<std::vector<double>> seconds = small_and_large();
        seconds.pop_back();
        const TimeTable table = table_from(seconds, rows_of(eight_sizes));
        CHECK_FALSE(study_rule(table, 2));
        const std::vector<Record> records = records_from(seconds, rows_of(eight_sizes));
        CHECK(rule_tables(records, 2, TableFormat::text) ==
              "CPU, f64: 7 matrices: too few for a rule, which would mean nothing; expected at least 8\n");
        CHECK(rule_tables(records, 2, TableFormat::tex).find("% CPU, f64: 7 matrices: too few") == 0);
        CHECK(rule_tables({}, 2, TableFormat::text) == "nothing was measured\n");
        CHECK(cover_tables({}, TableFormat::text) == "nothing was measured\n");
    }

    TEST_CASE("the tables") {
        const std::vector<Record> records = collection();
        for (const auto& [format, ending] :
             {std::pair{TableFormat::text, "txt"}, {TableFormat::csv, "csv"}, {TableFormat::tex, "tex"}}) {
            compare_cover(fmt::format("cover.{}", ending), cover_tables(records, format));
            compare_cover(fmt::format("rule.{}", ending), rule_tables(records, 3, format));
        }
    }
}

}  // namespace workbench
