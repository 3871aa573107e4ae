// Sets of recipes that serve a collection of matrices best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "studies/bench/printed_table.hpp"
#include "studies/bench/records.hpp"

namespace workbench {

/// Times of recipes on matrices, on one device in one precision.
struct TimeTable {
    std::string device;
    std::string precision;
    std::vector<std::string> recipes;                    // in alphabetical order
    std::vector<std::string> matrices;                   // likewise; those on which a recipe was measured
    std::vector<std::vector<double>> log_regrets;        // [matrix][recipe]: see Regret; infinite if it was not measured
    std::vector<std::map<std::string, double>> metrics;  // of each matrix, as it is read
    int unmeasured = 0;                                  // matrices on which no recipe was measured

    /// The numbers of all matrices.
    [[nodiscard]] std::vector<std::size_t> all() const;
};

/// A table for each device and precision with measurements, in the order of the rankings.
[[nodiscard]] std::vector<TimeTable> time_tables(const std::vector<Record>& records);

/// The regret on a matrix is the time of a recipe over that of the fastest of all recipes measured on it. Each time is relative
/// to the baseline beside which it was measured, if there is one. It is 1 if both are tied: if the intervals of their speed-ups
/// overlap. A matrix is unserved if the recipe was not measured on it.
class Regret {
public:
    /// The logarithm of the regret on one more matrix; infinite if it is unserved.
    void add(double log_regret) {
        if (std::isinf(log_regret)) {
            ++unserved_;
            return;
        }
        ++served_;
        log_sum_ += log_regret;
        log_most_ = std::max(log_most_, log_regret);
    }
    void add(const Regret& other);

    [[nodiscard]] int unserved() const { return unserved_; }
    [[nodiscard]] double log_sum() const { return log_sum_; }
    /// Over the served matrices; 1 if there are none.
    [[nodiscard]] double geometric_mean() const { return served_ == 0 ? 1 : std::exp(log_sum_ / served_); }
    [[nodiscard]] double most() const { return std::exp(log_most_); }

    /// Fewer matrices are unserved or, if equally many, the sum of the logarithms is smaller by more than `least_gain`, which
    /// excludes differences by rounding.
    [[nodiscard]] bool is_better_than(const Regret& other, double least_gain = 1e-12) const {
        return unserved_ != other.unserved_ ? unserved_ < other.unserved_ : log_sum_ < other.log_sum_ - least_gain;
    }

private:
    int unserved_ = 0;
    int served_ = 0;
    double log_sum_ = 0;
    double log_most_ = 0;
};

struct RecipeSet {
    std::vector<std::size_t> recipes;  // ascending
    Regret regret;                     // of the fastest recipe of the set
    bool exact = true;                 // all sets were compared; false: found by a greedy search with exchanges

    /// The recipe of the set that is the fastest on the matrix.
    [[nodiscard]] std::size_t fastest_on(const TimeTable& table, std::size_t matrix) const;
};

/// The number of sets up to which all are compared.
inline constexpr double compared_sets = 2e6;

/// The set of at most `count` recipes with the least regret over these matrices, without recipes that do not lower it. Of equal
/// sets the first in the order of the table. Compares all sets if there are at most `most_sets`.
[[nodiscard]] RecipeSet best_set(const TimeTable& table, const std::vector<std::size_t>& matrices, std::size_t count,
                                 double most_sets = compared_sets);

/// The best sets of 1, 2, 3 and 5 recipes, up to the first that no further recipe improves.
[[nodiscard]] std::vector<RecipeSet> cover(const TimeTable& table);

/// The covers of all devices and precisions.
[[nodiscard]] std::string cover_tables(const std::vector<Record>& records, TableFormat format);

}  // namespace workbench
