// Recipes ranked over many matrices, as text, CSV and LaTeX.
#pragma once

#include <string>
#include <vector>

#include "studies/bench/records.hpp"

namespace workbench {

/// Statistics of a ratio over several matrices; all zero if there are none.
struct RatioStatistics {
    int count = 0;
    double least = 0;
    double mean = 0;
    double geometric_mean = 0;
    double most = 0;
};

[[nodiscard]] RatioStatistics statistics_of(const std::vector<double>& ratios);

/// "0.94", "12.3", "123".
[[nodiscard]] std::string ratio_text(double ratio);

/// A number of products, rounded up, in at most nine characters: "1,235", "1.2e+07".
[[nodiscard]] std::string products_text(double products);

struct Ranked {
    std::string recipe;
    RatioStatistics speedup;  // over the baseline
    int won = 0;              // matrices where its confidence interval lies above all others
    int tied = 0;             // matrices where it did not win, but its interval overlaps that of the fastest
    int not_measured = 0;     // matrices where it failed or was unsuitable
    int warned = 0;           // matrices where a warning says that its time or the baseline's says little
};

/// Comparable records: one device, one precision.
struct Ranking {
    std::string device;
    std::string precision;
    int matrices = 0;
    std::vector<Ranked> recipes = {};  // by geometric mean, the best first
};

[[nodiscard]] std::vector<Ranking> rank(const std::vector<Record>& records);

/// A recipe compared with another one on the matrices that both have, as in EHYB's Tables 1 and 2.
struct Against {
    std::string other;
    RatioStatistics ratio;  // the recipe's speed-up over that of the other
    int faster = 0;         // matrices where the ratio exceeds 1
};

/// The comparisons with all other recipes, in ranking order. Throws RecipeError if the recipe is not in the ranking.
[[nodiscard]] std::vector<Against> against_others(const std::vector<Record>& records, const Ranking& ranking,
                                                  const std::string& recipe);

/// Tables of at most 80 columns. `of`: a recipe to compare with all others; may be empty.
[[nodiscard]] std::string ranking_text(const std::vector<Record>& records, const std::string& of = {});
/// The prices of each recipe (set-up, first product, later ones, new values), and the number of products after which its
/// preprocessing pays off; without the latter if none does.
[[nodiscard]] std::string prices_text(const std::vector<Record>& records);
/// Also GFLOP/s by matrix.
[[nodiscard]] std::string ranking_tex(const std::vector<Record>& records, const std::string& of = {});

/// A header and one line per record.
[[nodiscard]] std::string records_csv(const std::vector<Record>& records);

}  // namespace workbench
