#include "studies/bench/cover.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/measure/timing.hpp"
#include "studies/bench/ranking.hpp"

namespace workbench {
namespace {

constexpr double not_measured = std::numeric_limits<double>::infinity();

bool has_time(const Record& record) { return record.status == "measured" && record.seconds > 0; }

/// The times of baselines under equal conditions: on one matrix and device, in one precision, with one cache state, number of
/// vectors and number of threads.
class BaselineTimes {
public:
    explicit BaselineTimes(const std::vector<Record>& records) {
        for (const Record& record : records) {
            if (has_baseline(record)) seconds_[conditions_of(record)].push_back(record.seconds * *record.speedup);
        }
        for (auto& [conditions, seconds] : seconds_) seconds = {median_of(seconds).value};
    }

    /// The time of a recipe as if all recipes had been timed beside one baseline: a load that slows both does not count. Its
    /// own time if it has no speed-up.
    [[nodiscard]] double seconds_of(const Record& record) const {
        return has_baseline(record) ? seconds_.at(conditions_of(record)).front() / *record.speedup : record.seconds;
    }

private:
    static bool has_baseline(const Record& record) { return has_time(record) && record.speedup.value_or(0) > 0; }

    static std::vector<std::string> conditions_of(const Record& record) {
        std::vector<std::string> conditions{record.matrix, record.device, record.precision};
        for (const char* name : {"cache", "vectors", "threads", "host", "gpu"}) {
            const auto fact = record.facts.find(name);
            conditions.push_back(fact == record.facts.end() ? "" : fact->second);
        }
        return conditions;
    }

    std::map<std::vector<std::string>, std::vector<double>> seconds_;
};

struct RecipeTime {
    double seconds = 0;  // see BaselineTimes
    const Record* record = nullptr;
};

/// See Regret.
double log_regret_of(const RecipeTime& one, const RecipeTime& fastest) {
    const std::optional<Interval>& interval = one.record->interval;
    const std::optional<Interval>& of_fastest = fastest.record->interval;
    const bool tied = interval && of_fastest && interval->high >= of_fastest->low;
    return tied ? 0 : std::log(one.seconds) - std::log(fastest.seconds);
}

TimeTable time_table(const std::vector<Record>& records, const std::string& device, const std::string& precision) {
    const BaselineTimes baselines(records);
    std::map<std::string, std::map<std::string, RecipeTime>> seconds;  // by matrix and recipe
    std::map<std::string, std::map<std::string, double>> metrics;
    std::set<std::string> recipes;
    std::set<std::string> measured;  // on any device
    std::set<std::string> tried;
    for (const Record& record : records) {
        if (record.precision != precision && !record.precision.empty()) continue;
        tried.insert(record.matrix);
        if (!has_time(record)) continue;
        measured.insert(record.matrix);
        if (record.device != device) continue;
        recipes.insert(record.recipe);
        seconds[record.matrix][record.recipe] = {baselines.seconds_of(record), &record};
        metrics[record.matrix].insert(record.metrics.begin(), record.metrics.end());
    }
    TimeTable table;
    table.device = device;
    table.precision = precision;
    table.recipes.assign(recipes.begin(), recipes.end());
    for (const auto& [matrix, times] : seconds) {
        const RecipeTime& fastest =
            std::ranges::min_element(times, {}, [](const auto& one) { return one.second.seconds; })->second;
        std::vector<double> row;
        for (const std::string& recipe : table.recipes) {
            const auto found = times.find(recipe);
            row.push_back(found == times.end() ? not_measured : log_regret_of(found->second, fastest));
        }
        table.matrices.push_back(matrix);
        table.log_regrets.push_back(std::move(row));
        table.metrics.push_back(metrics[matrix]);
    }
    table.unmeasured = static_cast<int>(tried.size() - measured.size());
    return table;
}

/// The number of sets of `count` among `all`, as a floating-point number because it may be large.
double number_of_sets(std::size_t all, std::size_t count) {
    double number = 1;
    for (std::size_t i = 0; i < count; ++i) number *= static_cast<double>(all - i) / static_cast<double>(i + 1);
    return number;
}

/// Searches sets of recipes, whose log regrets on the matrices are the columns.
class SetSearch {
public:
    SetSearch(const TimeTable& table, const std::vector<std::size_t>& matrices) : none_(matrices.size(), not_measured) {
        for (std::size_t recipe = 0; recipe < table.recipes.size(); ++recipe) {
            std::vector<double> column;
            for (const std::size_t matrix : matrices) column.push_back(table.log_regrets[matrix][recipe]);
            columns_.push_back(std::move(column));
        }
    }

    [[nodiscard]] RecipeSet exhaustive(std::size_t count) const {
        RecipeSet best{{}, regret_of(std::vector<std::size_t>{}), true};
        std::vector<std::size_t> chosen;
        compare_all(0, count, none_, chosen, best);
        return best;
    }

    /// Adds the best recipe until there are `count`, then exchanges one for another while that lowers the regret.
    [[nodiscard]] RecipeSet greedy(std::size_t count) const {
        RecipeSet best{{}, regret_of(std::vector<std::size_t>{}), false};
        while (best.recipes.size() < count && try_instead_of(best.recipes.size(), best)) {
        }
        for (bool improved = true; improved;) {
            improved = false;
            for (std::size_t i = 0; i < best.recipes.size(); ++i) improved = try_instead_of(i, best) || improved;
        }
        return best;
    }

    /// Removes recipes that do not lower the regret, the last first.
    void remove_idle(RecipeSet& set) const {
        for (std::size_t i = set.recipes.size(); i-- > 0 && set.recipes.size() > 1;) {
            std::vector<std::size_t> fewer = set.recipes;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            const Regret regret = regret_of(fewer);
            if (set.regret.is_better_than(regret)) continue;
            set.recipes = std::move(fewer);
            set.regret = regret;
        }
        std::sort(set.recipes.begin(), set.recipes.end());
    }

private:
    static Regret regret_of(const std::vector<double>& least) {
        Regret regret;
        for (const double one : least) regret.add(one);
        return regret;
    }

    void lower(std::vector<double>& least, std::size_t recipe) const {
        const std::vector<double>& column = columns_[recipe];
        for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], column[i]);
    }

    [[nodiscard]] Regret regret_of(const std::vector<std::size_t>& recipes) const {
        std::vector<double> least = none_;
        for (const std::size_t recipe : recipes) lower(least, recipe);
        return regret_of(least);
    }

    /// Compares all sets that extend the chosen recipes by `count` from `first` on. `least`: the log regrets of the chosen.
    void compare_all(std::size_t first, std::size_t count, const std::vector<double>& least, std::vector<std::size_t>& chosen,
                     RecipeSet& best) const {
        if (count == 0) {
            const Regret regret = regret_of(least);
            if (regret.is_better_than(best.regret)) best = {chosen, regret, true};
            return;
        }
        for (std::size_t recipe = first; recipe + count <= columns_.size(); ++recipe) {
            std::vector<double> lower_least = least;
            lower(lower_least, recipe);
            chosen.push_back(recipe);
            compare_all(recipe + 1, count - 1, lower_least, chosen, best);
            chosen.pop_back();
        }
    }

    /// Puts the best recipe in place i of the set, or at its end. Returns true if that lowers the regret.
    bool try_instead_of(std::size_t i, RecipeSet& set) const {
        std::vector<double> others = none_;
        for (std::size_t j = 0; j < set.recipes.size(); ++j) {
            if (j != i) lower(others, set.recipes[j]);
        }
        bool improved = false;
        const std::vector<std::size_t> before = set.recipes;
        for (std::size_t recipe = 0; recipe < columns_.size(); ++recipe) {
            std::vector<double> least = others;
            lower(least, recipe);
            const Regret regret = regret_of(least);
            if (!regret.is_better_than(set.regret)) continue;
            set.recipes = before;
            if (i == before.size()) set.recipes.push_back(0);
            set.recipes[i] = recipe;
            set.regret = regret;
            improved = true;
        }
        return improved;
    }

    std::vector<std::vector<double>> columns_;
    std::vector<double> none_;
};

PrintedTable table_of(const TimeTable& table, const std::vector<RecipeSet>& sets) {
    PrintedTable printed{fmt::format("{}, {}: the sets that serve them best",
                                     heading_of(table.device, table.precision, static_cast<int>(table.matrices.size())),
                                     counted_with_commas(table.recipes.size(), "recipe")),
                         {"recipe", "set of", "unserved", "regret", "max", "search", "fastest on"}};
    for (const RecipeSet& set : sets) {
        std::map<std::size_t, int> fastest;
        for (const std::size_t matrix : table.all()) {
            const std::size_t recipe = set.fastest_on(table, matrix);
            if (!std::isinf(table.log_regrets[matrix][recipe])) ++fastest[recipe];
        }
        std::vector<std::string> of_set{std::to_string(set.recipes.size()), std::to_string(set.regret.unserved()),
                                        ratio_text(set.regret.geometric_mean()), ratio_text(set.regret.most()),
                                        set.exact ? "exact" : "greedy"};
        for (const std::size_t recipe : set.recipes) {
            std::vector<std::string> row{table.recipes[recipe]};
            row.insert(row.end(), of_set.begin(), of_set.end());
            row.push_back(std::to_string(fastest[recipe]));
            printed.rows.push_back(std::move(row));
            std::fill(of_set.begin(), of_set.end(), "");
        }
    }
    return printed;
}

std::string csv_of(const TimeTable& table, const std::vector<RecipeSet>& sets) {
    std::string text;
    for (const RecipeSet& set : sets) {
        for (const std::size_t recipe : set.recipes) {
            const auto fastest = std::ranges::count_if(table.all(), [&](std::size_t matrix) {
                return set.fastest_on(table, matrix) == recipe && !std::isinf(table.log_regrets[matrix][recipe]);
            });
            text += fmt::format("{},{},{},{},{},{},{},{},{}\n", table.device, table.precision, set.recipes.size(),
                                for_csv(table.recipes[recipe]), set.regret.unserved(), set.regret.geometric_mean(),
                                set.regret.most(), set.exact ? "exact" : "greedy", fastest);
        }
    }
    return text;
}

std::string notes_of(const TimeTable& table, const std::vector<RecipeSet>& sets) {
    std::string text =
        "regret: the time of the fastest recipe of the set over that of the fastest of all recipes, both relative to the "
        "baseline "
        "beside which they were timed; the geometric mean over the matrices that the set serves, and the maximum.";
    if (std::ranges::any_of(sets, [](const RecipeSet& set) { return set.regret.unserved() > 0; })) {
        text += " unserved: matrices on which no recipe of the set was measured; sets with fewer of them come first.";
    }
    if (!std::ranges::all_of(sets, &RecipeSet::exact)) {
        text += " greedy: recipes were added one by one, then exchanged, because there are more than 2,000,000 sets.";
    }
    if (sets.back().recipes.size() < 5) text += " No further recipe lowers the regret.";
    if (table.unmeasured > 0) {
        text += fmt::format(" {} further {} left out, because no recipe was measured on {}.", table.unmeasured,
                            table.unmeasured == 1 ? "matrix is" : "matrices are", table.unmeasured == 1 ? "it" : "them");
    }
    return wrapped("  " + text);
}

}  // namespace

std::vector<std::size_t> TimeTable::all() const {
    std::vector<std::size_t> numbers(matrices.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

std::vector<TimeTable> time_tables(const std::vector<Record>& records) {
    std::vector<TimeTable> tables;
    for (const char* device : {"gpu", "host"}) {
        for (const char* precision : {"f64", "f32"}) {
            TimeTable table = time_table(records, device, precision);
            if (!table.matrices.empty()) tables.push_back(std::move(table));
        }
    }
    return tables;
}

void Regret::add(const Regret& other) {
    unserved_ += other.unserved_;
    served_ += other.served_;
    log_sum_ += other.log_sum_;
    log_most_ = std::max(log_most_, other.log_most_);
}

std::size_t RecipeSet::fastest_on(const TimeTable& table, std::size_t matrix) const {
    const std::vector<double>& row = table.log_regrets[matrix];
    return *std::ranges::min_element(recipes, {}, [&row](std::size_t recipe) { return row[recipe]; });
}

RecipeSet best_set(const TimeTable& table, const std::vector<std::size_t>& matrices, std::size_t count, double most_sets) {
    count = std::min(count, table.recipes.size());
    const SetSearch search(table, matrices);
    RecipeSet set = number_of_sets(table.recipes.size(), count) <= most_sets ? search.exhaustive(count) : search.greedy(count);
    search.remove_idle(set);
    return set;
}

std::vector<RecipeSet> cover(const TimeTable& table) {
    std::vector<RecipeSet> sets;
    for (const std::size_t count : {1, 2, 3, 5}) {
        RecipeSet set = best_set(table, table.all(), count);
        if (!sets.empty() && !set.regret.is_better_than(sets.back().regret)) break;
        sets.push_back(std::move(set));
        if (sets.back().recipes.size() < count) break;
    }
    return sets;
}

std::string cover_tables(const std::vector<Record>& records, TableFormat format) {
    std::string text;
    if (format == TableFormat::csv) text = "device,precision,set_of,recipe,unserved,regret,max_regret,search,fastest_on\n";
    for (const TimeTable& table : time_tables(records)) {
        const std::vector<RecipeSet> sets = cover(table);
        if (format == TableFormat::csv) {
            text += csv_of(table, sets);
        } else if (format == TableFormat::tex) {
            text += table_of(table, sets).tex(table_name("sets", table.device, table.precision));
        } else {
            text += (text.empty() ? "" : "\n") + table_of(table, sets).text() + notes_of(table, sets);
        }
    }
    return text.empty() ? "nothing was measured\n" : text;
}

}  // namespace workbench
