// Recipes over many matrices, the best first: as text, CSV and LaTeX.
#pragma once

#include <string>
#include <vector>

#include "pipeline/bench/records.hpp"

namespace workbench {

/// A ratio over several matrices. All zero without any.
struct RatioStatistics {
    int count = 0;
    double least = 0;
    double mean = 0;
    double geometric_mean = 0;
    double most = 0;
};

[[nodiscard]] RatioStatistics statistics_of(const std::vector<double>& ratios);

struct Ranked {
    std::string recipe;
    RatioStatistics speedup;  // over the baseline
    int won = 0;              // matrices on which its interval lies above those of all others
    int tied = 0;             // on which it is not won, but its interval reaches that of the fastest
    int not_measured = 0;     // matrices on which it failed or did not suit
};

/// Records that can be compared: one device, one precision.
struct Ranking {
    std::string device;
    std::string precision;
    int matrices = 0;
    std::vector<Ranked> recipes;  // by geometric mean, the best first
};

[[nodiscard]] std::vector<Ranking> rank(const std::vector<Record>& records);

/// One recipe against each other one, on the matrices that both have: EHYB's Tables 1 and 2.
struct Against {
    std::string other;
    RatioStatistics ratio;  // speed-up of the one over that of the other
    int faster = 0;         // matrices on which it is more than 1
};

/// The others in the order of the ranking. Throws RecipeError where the recipe is not in it.
[[nodiscard]] std::vector<Against> against_others(const std::vector<Record>& records, const Ranking& ranking,
                                                  const std::string& recipe);

/// Tables of at most 80 columns. `of`: a recipe to set against the others; empty: none.
[[nodiscard]] std::string ranking_text(const std::vector<Record>& records, const std::string& of = {});
/// After how many products each recipe has paid for its preparation, on the matrices where it does. Empty where none does.
[[nodiscard]] std::string prices_text(const std::vector<Record>& records);
[[nodiscard]] std::string ranking_tex(const std::vector<Record>& records, const std::string& of = {});

/// A row a record, with a header.
[[nodiscard]] std::string records_csv(const std::vector<Record>& records);

}  // namespace workbench
