#include "studies/bench/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/measure/timing.hpp"
#include "studies/bench/printed_table.hpp"

namespace workbench {
namespace {

Interval interval_of(const Record& record) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return record.interval.value_or(Interval{-infinite, infinite});  // too few samples: unknown
}

bool belongs(const Record& record, const Ranking& ranking) {
    return record.status == "measured" && record.speedup && record.device == ranking.device &&
           record.precision == ranking.precision;
}

using ByMatrix = std::map<std::string, std::vector<const Record*>>;

ByMatrix by_matrix(const std::vector<Record>& records, const Ranking& ranking) {
    ByMatrix matrices;
    for (const Record& record : records) {
        if (belongs(record, ranking)) matrices[record.matrix].push_back(&record);
    }
    return matrices;
}

void count_wins(const std::vector<const Record*>& on_matrix, std::map<std::string, Ranked>& ranked) {
    if (on_matrix.size() < 2) return;
    const Record& fastest = **std::max_element(on_matrix.begin(), on_matrix.end(),
                                               [](const Record* a, const Record* b) { return *a->speedup < *b->speedup; });
    const auto reaches = [&](const Record* other) { return interval_of(*other).high >= interval_of(fastest).low; };
    if (std::count_if(on_matrix.begin(), on_matrix.end(), reaches) == 1) {
        ++ranked[fastest.recipe].won;
        return;
    }
    for (const Record* record : on_matrix) ranked[record->recipe].tied += reaches(record) ? 1 : 0;
}

Ranking rank_one(const std::vector<Record>& records, const std::string& device, const std::string& precision) {
    Ranking ranking{device, precision};
    const ByMatrix matrices = by_matrix(records, ranking);
    ranking.matrices = static_cast<int>(matrices.size());
    std::map<std::string, Ranked> ranked;
    std::map<std::string, std::vector<double>> speedups;
    for (const auto& [matrix, on_matrix] : matrices) {
        for (const Record* record : on_matrix) {
            speedups[record->recipe].push_back(*record->speedup);
            ranked[record->recipe].warned += record->warnings.empty() ? 0 : 1;
        }
        count_wins(on_matrix, ranked);
    }
    std::map<std::string, std::set<std::string>> missing;
    for (const Record& record : records) {
        if (record.status != "measured" && (record.device.empty() || record.device == device) &&
            (record.precision.empty() || record.precision == precision)) {
            missing[record.recipe].insert(record.matrix);
        }
    }
    for (const auto& [recipe, ratios] : speedups) {
        Ranked one = ranked[recipe];
        one.recipe = recipe;
        one.speedup = statistics_of(ratios);
        one.not_measured = static_cast<int>(missing[recipe].size());
        ranking.recipes.push_back(std::move(one));
    }
    std::stable_sort(ranking.recipes.begin(), ranking.recipes.end(),
                     [](const Ranked& a, const Ranked& b) { return a.speedup.geometric_mean > b.speedup.geometric_mean; });
    return ranking;
}

std::string percentage(int part, int whole) { return whole == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * part / whole); }

std::vector<std::string> cells_of(const RatioStatistics& ratios) {
    return {ratio_text(ratios.least), ratio_text(ratios.mean), ratio_text(ratios.geometric_mean), ratio_text(ratios.most),
            std::to_string(ratios.count)};
}

std::string heading(const Ranking& ranking) { return heading_of(ranking.device, ranking.precision, ranking.matrices); }

/// Adds the row of a recipe.
void add_row(PrintedTable& table, const std::string& recipe, std::vector<std::string> cells,
             const std::vector<std::string>& more = {}) {
    cells.insert(cells.begin(), recipe);
    cells.insert(cells.end(), more.begin(), more.end());
    table.rows.push_back(std::move(cells));
}

/// Adds a column with the share of matrices on which a warning concerns a recipe, and its meaning, if there are warnings.
void add_warned(PrintedTable& table, const Ranking& ranking) {
    const auto is_warned = [](const Ranked& one) { return one.warned > 0; };
    if (std::none_of(ranking.recipes.begin(), ranking.recipes.end(), is_warned)) return;
    table.name_width = 20;  // within 80 columns
    table.header.emplace_back("warned");
    for (std::vector<std::string>& row : table.rows) {
        const auto one = std::find_if(ranking.recipes.begin(), ranking.recipes.end(),
                                      [&](const Ranked& ranked) { return ranked.recipe == row.front(); });
        row.push_back(percentage(one->warned, one->speedup.count));
    }
    table.note = "warned: a warning says that the time of the recipe, or of the baseline, says little";
    table.hint = "; --csv lists them.";
}

PrintedTable ranking_table(const Ranking& ranking) {
    PrintedTable table{heading(ranking) + ", speed-up over CSR in the input's order",
                       {"recipe", "won", "tied", "min", "mean", "geomean", "max", "matrices"}};
    for (const Ranked& one : ranking.recipes) {
        add_row(table, one.recipe, {percentage(one.won, ranking.matrices), percentage(one.tied, ranking.matrices)},
                cells_of(one.speedup));
    }
    add_warned(table, ranking);
    return table;
}

double median_in(std::vector<double> numbers) { return median_of(std::move(numbers)).value; }

/// The medians of the four prices over the matrices. Without rows if the records have no prices.
PrintedTable setup_table(const std::vector<Record>& records, const Ranking& ranking) {
    PrintedTable table{heading(ranking) + ", prices: medians over the matrices",
                       {"recipe", "set-up", "first product", "product", "new values", "matrices"}};
    for (const Ranked& one : ranking.recipes) {
        std::array<std::vector<double>, 4> prices;
        for (const Record& record : records) {
            if (record.recipe != one.recipe || !belongs(record, ranking) || !record.setup_seconds) continue;
            prices[0].push_back(*record.setup_seconds);
            prices[1].push_back(record.first_seconds.value_or(0));
            prices[2].push_back(record.seconds);
            prices[3].push_back(record.new_values_seconds.value_or(0));
        }
        if (prices[0].empty()) continue;
        std::vector<std::string> cells;
        for (const std::vector<double>& price : prices) cells.push_back(duration(median_in(price)));
        add_row(table, one.recipe, std::move(cells), {std::to_string(prices[0].size())});
    }
    return table;
}

/// Products until preprocessing pays off. Without rows if it never does.
PrintedTable break_even_table(const std::vector<Record>& records, const Ranking& ranking) {
    PrintedTable table{heading(ranking) + ", products until preprocessing pays off",
                       {"recipe", "pays off", "min", "median", "max", "matrices"}};
    std::map<std::string, std::vector<double>> products;
    for (const Record& record : records) {
        if (belongs(record, ranking) && record.break_even) products[record.recipe].push_back(*record.break_even);
    }
    for (const Ranked& one : ranking.recipes) {
        const std::vector<double>& numbers = products[one.recipe];
        if (numbers.empty()) continue;
        const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
        add_row(table, one.recipe,
                {percentage(static_cast<int>(numbers.size()), one.speedup.count), products_text(*least),
                 products_text(median_in(numbers)), products_text(*most), std::to_string(one.speedup.count)});
    }
    return table;
}

double metric(const Record& record, const char* key) {
    const auto found = record.metrics.find(key);
    return found == record.metrics.end() ? 0 : found->second;
}

/// GFLOP/s of the best recipes on each matrix.
PrintedTable matrices_table(const std::vector<Record>& records, const Ranking& ranking) {
    constexpr std::size_t most_recipes = 5;
    PrintedTable table{heading(ranking) + ", GFLOP/s", {"matrix", "rows", "nonzeros"}};
    for (const Ranked& one : ranking.recipes) {
        if (table.header.size() < 3 + most_recipes) table.header.push_back(one.recipe);
    }
    if (ranking.recipes.size() > most_recipes) {
        table.note = fmt::format("the best {} of {}", most_recipes, counted(ranking.recipes.size(), "recipe"));
    }
    const auto matrices = by_matrix(records, ranking);
    std::map<std::string, int> uses;  // of short names
    for (const auto& [matrix, on_matrix] : matrices) ++uses[short_matrix_name(matrix)];
    for (const auto& [matrix, on_matrix] : matrices) {
        std::vector<std::string> cells;
        for (const char* key : {"rows", "nonzeros"}) {
            cells.push_back(with_commas(std::llround(metric(*on_matrix.front(), key))));
        }
        for (std::size_t i = 3; i < table.header.size(); ++i) {
            const auto one = std::find_if(on_matrix.begin(), on_matrix.end(),
                                          [&](const Record* record) { return record->recipe == table.header[i]; });
            cells.push_back(one == on_matrix.end() ? "-" : significant((*one)->gflops));
        }
        const std::string name = short_matrix_name(matrix);
        add_row(table, uses[name] == 1 ? name : matrix, std::move(cells));
    }
    return table;
}

/// " (warm caches)" if all times of a ranking were measured so; otherwise empty.
std::string caches_of(const std::vector<Record>& records, const Ranking& ranking) {
    std::set<std::string> states;
    for (const Record& record : records) {
        const auto fact = record.facts.find("cache");
        if (belongs(record, ranking)) states.insert(fact == record.facts.end() ? "" : fact->second);
    }
    if (states.size() != 1 || states.begin()->empty()) return "";
    return *states.begin() == "warm" || *states.begin() == "cold" ? fmt::format(" ({} caches)", *states.begin())
                                                                  : " (inside CG)";
}

/// None if no other recipe was measured on the same matrices.
std::optional<PrintedTable> comparison_table(const std::vector<Record>& records, const Ranking& ranking,
                                             const std::string& recipe) {
    const std::vector<Against> others = against_others(records, ranking, recipe);
    if (others.empty()) return std::nullopt;
    PrintedTable table{fmt::format("Speed-up of {} over the other recipes, {}", recipe, heading(ranking)),
                       {"recipe", "faster", "min", "mean", "geomean", "max", "matrices"}};
    for (const Against& one : others) {
        add_row(table, one.other, {percentage(one.faster, one.ratio.count)}, cells_of(one.ratio));
    }
    return table;
}

std::string known(double number) { return number == 0 ? "" : fmt::format("{}", number); }
std::string known(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

}  // namespace

RatioStatistics statistics_of(const std::vector<double>& ratios) {
    if (ratios.empty()) return {};
    double sum = 0;
    double logarithms = 0;
    for (const double one : ratios) {
        sum += one;
        logarithms += std::log(one);
    }
    const auto count = static_cast<double>(ratios.size());
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return {.count = static_cast<int>(ratios.size()),
            .least = *least,
            .mean = sum / count,
            .geometric_mean = std::exp(logarithms / count),
            .most = *most};
}

std::vector<Ranking> rank(const std::vector<Record>& records) {
    std::vector<Ranking> rankings;
    for (const char* device : {"gpu", "host"}) {
        for (const char* precision : {"f64", "f32"}) {
            Ranking ranking = rank_one(records, device, precision);
            if (!ranking.recipes.empty()) rankings.push_back(std::move(ranking));
        }
    }
    return rankings;
}

std::vector<Against> against_others(const std::vector<Record>& records, const Ranking& ranking, const std::string& recipe) {
    std::vector<std::string> names;
    for (const Ranked& ranked : ranking.recipes) names.push_back(ranked.recipe);
    if (std::find(names.begin(), names.end(), recipe) == names.end()) {
        const std::string suggestion = did_you_mean(recipe, names);
        std::vector<std::string> quoted;  // names may contain commas
        for (const std::string& name : names) quoted.push_back(fmt::format("'{}'", name));
        throw RecipeError(fmt::format("--of {}: no recipe of this name was measured{}{}", recipe,
                                      suggestion.empty() ? "; expected one of " : suggestion + " Expected one of ",
                                      join(quoted)));
    }
    std::map<std::string, std::vector<double>> ratios;
    for (const auto& [matrix, on_matrix] : by_matrix(records, ranking)) {
        const auto one = std::find_if(on_matrix.begin(), on_matrix.end(), [&](const Record* r) { return r->recipe == recipe; });
        if (one == on_matrix.end()) continue;
        for (const Record* other : on_matrix) ratios[other->recipe].push_back(*(*one)->speedup / *other->speedup);
    }
    std::vector<Against> table;
    for (const std::string& other : names) {
        if (other == recipe || ratios[other].empty()) continue;
        const auto faster = std::count_if(ratios[other].begin(), ratios[other].end(), [](double r) { return r > 1; });
        table.push_back({other, statistics_of(ratios[other]), static_cast<int>(faster)});
    }
    return table;
}

std::string ratio_text(double ratio) {
    return ratio >= 99.95 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.{}f}", ratio, ratio >= 9.995 ? 1 : 2);
}

std::string products_text(double products) {
    const double whole = std::ceil(products);
    return whole < 1e7 ? with_commas(std::llround(whole)) : fmt::format("{:.1e}", whole);
}

std::string ranking_text(const std::vector<Record>& records, const std::string& of) {
    std::string text;
    for (const Ranking& ranking : rank(records)) {
        text += (text.empty() ? "" : "\n") + ranking_table(ranking).text();
        if (std::any_of(ranking.recipes.begin(), ranking.recipes.end(),
                        [](const Ranked& one) { return one.not_measured > 0; })) {
            text += "  Matrices that failed or were unsuitable are left out; --csv lists the reasons.\n";
        }
        std::vector<std::string> names;
        for (const Ranked& one : ranking.recipes) names.push_back(one.recipe);
        if (const std::string legend = legend_of_marks(names); !legend.empty()) text += fmt::format("  {}.\n", legend);
        if (of.empty()) continue;
        const auto comparison = comparison_table(records, ranking, of);
        text += comparison ? '\n' + comparison->text()
                           : fmt::format("  --of {}: no other recipe was measured on the same matrices.\n", of);
    }
    return text.empty() ? "nothing was measured\n" : text;
}

std::string prices_text(const std::vector<Record>& records) {
    std::string text;
    for (const Ranking& ranking : rank(records)) {
        for (const PrintedTable& table : {setup_table(records, ranking), break_even_table(records, ranking)}) {
            if (!table.rows.empty()) text += '\n' + table.text();
        }
    }
    return text;
}

std::string ranking_tex(const std::vector<Record>& records, const std::string& of) {
    std::string text;
    for (const Ranking& ranking : rank(records)) {
        std::vector<std::pair<std::string, PrintedTable>> tables{{"ranking", ranking_table(ranking)},
                                                                 {"matrices", matrices_table(records, ranking)},
                                                                 {"prices", setup_table(records, ranking)},
                                                                 {"break-even", break_even_table(records, ranking)}};
        if (!of.empty()) {
            if (auto comparison = comparison_table(records, ranking, of))
                tables.emplace_back("speed-up", std::move(*comparison));
        }
        for (auto& [kind, table] : tables) {
            table.caption += caches_of(records, ranking);
            if (!table.rows.empty()) text += table.tex(table_name(kind, ranking.device, ranking.precision));
        }
    }
    return text;
}

std::string records_csv(const std::vector<Record>& records) {
    std::string text =
        "recipe,matrix,device,precision,status,reason,layout,kernel,backend,median_seconds,gflops,gbytes_per_second,"
        "bytes_per_nonzero,speedup,speedup_low,speedup_high,verdict,break_even,setup_seconds,first_seconds,new_values_seconds,"
        "rows,columns,nonzeros,warnings\n";
    for (const Record& r : records) {
        std::vector<std::string> cells{r.recipe, r.matrix, r.device, r.precision, r.status,
                                       r.reason, r.layout, r.kernel, r.backend};
        for (std::string& cell : cells) cell = for_csv(cell);
        for (const double number : {r.seconds, r.gflops, r.gbytes_per_second, r.bytes_per_nonzero}) {
            cells.push_back(known(number));
        }
        cells.push_back(known(r.speedup));
        cells.push_back(r.interval ? fmt::format("{}", r.interval->low) : "");
        cells.push_back(r.interval ? fmt::format("{}", r.interval->high) : "");
        cells.push_back(r.verdict);
        for (const auto& number : {r.break_even, r.setup_seconds, r.first_seconds, r.new_values_seconds}) {
            cells.push_back(known(number));
        }
        for (const char* key : {"rows", "columns", "nonzeros"}) cells.push_back(known(metric(r, key)));
        cells.push_back(for_csv(fmt::format("{}", fmt::join(r.warnings, "; "))));
        text += fmt::format("{}\n", fmt::join(cells, ","));
    }
    return text;
}

}  // namespace workbench
