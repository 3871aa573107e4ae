#include "pipeline/bench/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/suggestion.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

Interval interval_of(const Record& record) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return record.interval.value_or(Interval{-infinite, infinite});  // too few samples say nothing
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
    Ranking ranking{device, precision, 0, {}};
    const ByMatrix matrices = by_matrix(records, ranking);
    ranking.matrices = static_cast<int>(matrices.size());
    std::map<std::string, Ranked> ranked;
    std::map<std::string, std::vector<double>> speedups;
    for (const auto& [matrix, on_matrix] : matrices) {
        for (const Record* record : on_matrix) speedups[record->recipe].push_back(*record->speedup);
        count_wins(on_matrix, ranked);
    }
    std::map<std::string, std::set<std::string>> missing;
    for (const Record& record : records) {
        if (record.status != "measured" && (record.precision.empty() || record.precision == precision)) {
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

std::string ratio(double number) {
    return number >= 99.95   ? fmt::format("{:.0f}", number)
           : number >= 9.995 ? fmt::format("{:.1f}", number)
                             : fmt::format("{:.2f}", number);
}

/// Whole products, with six letters at most.
std::string product_count(double number) {
    const double whole = std::ceil(number);
    return whole < 1e5   ? with_commas(std::llround(whole))
           : whole < 1e6 ? fmt::format("{:.0f}k", whole / 1e3)
           : whole < 1e9 ? fmt::format("{:.0f}M", whole / 1e6)
                         : "> 1e9";
}

std::string share(int part, int whole) { return whole == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * part / whole); }

constexpr std::size_t name_width = 29;

std::string heading(const Ranking& ranking) {
    return fmt::format("{}, {}: {} {}", ranking.device == "gpu" ? "GPU" : "CPU", ranking.precision, ranking.matrices,
                       ranking.matrices == 1 ? "matrix" : "matrices");
}

std::string row(const std::string& name, const std::vector<std::string>& cells) {
    std::string line = "  " + padded(name, name_width);
    for (const std::string& cell : cells) line += fmt::format("{:>7}", cell);
    return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

/// What each recipe is called in the tables of text.
std::map<std::string, std::string> short_names_of(const Ranking& ranking) {
    std::vector<std::string> names;
    for (const Ranked& one : ranking.recipes) names.push_back(one.recipe);
    const std::vector<std::string> texts = shortened(names, name_width);
    std::map<std::string, std::string> short_names;
    for (std::size_t i = 0; i < names.size(); ++i) short_names[names[i]] = texts[i];
    return short_names;
}

std::string for_tex(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '\\') {
            safe += "\\textbackslash{}";
        } else if (letter == '~') {
            safe += "\\textasciitilde{}";
        } else if (letter == '^') {
            safe += "\\textasciicircum{}";
        } else {
            if (std::string("&%$#_{}").find(letter) != std::string::npos) safe += '\\';
            safe += letter;
        }
    }
    return safe;
}

std::string tex_table(const std::string& columns, const std::string& caption, const std::string& header,
                      const std::string& rows) {
    return fmt::format("% {}\n\\begin{{tabular}}{{{}}}\n\\hline\n{} \\\\\n\\hline\n{}\\hline\n\\end{{tabular}}\n", caption,
                       columns, header, rows);
}

std::string for_csv(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + '"';
}

std::string known(double number) { return number == 0 ? "" : fmt::format("{}", number); }
std::string known(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

double metric(const Record& record, const char* key) {
    const auto found = record.metrics.find(key);
    return found == record.metrics.end() ? 0 : found->second;
}

}  // namespace

RatioStatistics statistics_of(const std::vector<double>& ratios) {
    RatioStatistics statistics;
    if (ratios.empty()) return statistics;
    double sum = 0;
    double logarithms = 0;
    for (const double one : ratios) {
        sum += one;
        logarithms += std::log(one);
    }
    const auto count = static_cast<double>(ratios.size());
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return {static_cast<int>(ratios.size()), *least, sum / count, std::exp(logarithms / count), *most};
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
        std::vector<std::string> quoted;  // a name may have commas in it
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

std::string ranking_text(const std::vector<Record>& records, const std::string& of) {
    std::string text;
    for (const Ranking& ranking : rank(records)) {
        text += (text.empty() ? "" : "\n") + heading(ranking) + ", speed-up over CSR in the input's order\n";
        text += row("recipe", {"won", "tied", "min", "mean", "geo", "max", "of"});
        bool missing = false;
        const std::map<std::string, std::string> short_names = short_names_of(ranking);
        for (const Ranked& one : ranking.recipes) {
            const RatioStatistics& speedup = one.speedup;
            missing = missing || one.not_measured > 0;
            text += row(short_names.at(one.recipe), {share(one.won, ranking.matrices), share(one.tied, ranking.matrices),
                                                     ratio(speedup.least), ratio(speedup.mean), ratio(speedup.geometric_mean),
                                                     ratio(speedup.most), fmt::format("{}", speedup.count)});
        }
        if (missing) text += "  Matrices that failed or did not suit are left out; --csv has the reasons.\n";
        if (of.empty()) continue;
        text += fmt::format("\n{} over the others, {}\n", of, ranking.precision) +
                row("recipe", {"faster", "", "min", "mean", "geo", "max", "of"});
        for (const Against& one : against_others(records, ranking, of)) {
            text += row(short_names.at(one.other),
                        {share(one.faster, one.ratio.count), "", ratio(one.ratio.least), ratio(one.ratio.mean),
                         ratio(one.ratio.geometric_mean), ratio(one.ratio.most), fmt::format("{}", one.ratio.count)});
        }
    }
    return text.empty() ? "nothing was measured\n" : text;
}

std::string prices_text(const std::vector<Record>& records) {
    std::string text;
    for (const Ranking& ranking : rank(records)) {
        std::map<std::string, std::vector<double>> products;
        for (const Record& record : records) {
            if (belongs(record, ranking) && record.break_even) products[record.recipe].push_back(*record.break_even);
        }
        if (products.empty()) continue;
        text += '\n' + heading(ranking) + ", products until the preparation has paid\n" +
                row("recipe", {"pays", "", "least", "median", "most", "", "of"});
        const std::map<std::string, std::string> short_names = short_names_of(ranking);
        for (const Ranked& one : ranking.recipes) {
            std::vector<double>& numbers = products[one.recipe];
            if (numbers.empty()) continue;
            std::sort(numbers.begin(), numbers.end());
            text += row(short_names.at(one.recipe),
                        {share(static_cast<int>(numbers.size()), one.speedup.count), "", product_count(numbers.front()),
                         product_count((numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]) / 2),
                         product_count(numbers.back()), "", fmt::format("{}", one.speedup.count)});
        }
    }
    return text;
}

std::string ranking_tex(const std::vector<Record>& records, const std::string& of) {
    std::string text;
    const auto numbers = [](const RatioStatistics& ratios) {
        return fmt::format("{} & {} & {} & {}", ratio(ratios.least), ratio(ratios.mean), ratio(ratios.geometric_mean),
                           ratio(ratios.most));
    };
    const auto percents = [](int part, int whole) { return for_tex(share(part, whole)); };
    for (const Ranking& ranking : rank(records)) {
        std::string rows;
        for (const Ranked& one : ranking.recipes) {
            rows += fmt::format("{} & {} & {} & {} & {} \\\\\n", for_tex(one.recipe), percents(one.won, ranking.matrices),
                                percents(one.tied, ranking.matrices), numbers(one.speedup), one.speedup.count);
        }
        text += tex_table("lrrrrrrr", heading(ranking) + ", speed-up over CSR in the input's order",
                          "recipe & won & tied & min & mean & geo. mean & max & matrices", rows);
        if (of.empty()) continue;
        rows.clear();
        for (const Against& one : against_others(records, ranking, of)) {
            rows += fmt::format("{} & {} & {} & {} \\\\\n", for_tex(one.other), percents(one.faster, one.ratio.count),
                                numbers(one.ratio), one.ratio.count);
        }
        text += tex_table("lrrrrrr", fmt::format("{} over the others, {}", of, heading(ranking)),
                          for_tex(of) + " is faster & on & min & mean & geo. mean & max & matrices", rows);
    }
    return text;
}

std::string records_csv(const std::vector<Record>& records) {
    std::string text =
        "recipe,matrix,device,precision,status,reason,layout,kernel,backend,median_seconds,gflops,gbytes_per_second,"
        "bytes_per_nonzero,speedup,speedup_low,speedup_high,verdict,break_even,rows,columns,nonzeros\n";
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
        cells.push_back(known(r.break_even));
        for (const char* key : {"rows", "columns", "nonzeros"}) cells.push_back(known(metric(r, key)));
        text += fmt::format("{}\n", fmt::join(cells, ","));
    }
    return text;
}

}  // namespace workbench
