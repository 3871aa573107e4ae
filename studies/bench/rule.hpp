// Decision rules: which recipe to use for a matrix, by its metrics.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "studies/bench/cover.hpp"

namespace workbench {

/// A node of a decision tree. Matrices whose metric is below the threshold belong to the node `below`, the others to `above`.
struct RuleNode {
    std::string metric = {};  // empty: a leaf
    double threshold = 0;
    std::size_t below = 0;
    std::size_t above = 0;
    std::size_t recipe = 0;  // of a leaf
    int matrices = 0;        // that the tree was grown from
    Regret regret = {};      // of the recipe on them
};

/// The root is the first node.
using Rule = std::vector<RuleNode>;

/// The most conditions between root and leaf, the least number of matrices in a leaf, and the least factor by which a condition
/// lowers the geometric mean of the regret.
inline constexpr int rule_depth = 3;
inline constexpr std::size_t leaf_matrices = 2;
inline constexpr double least_rule_gain = 1.01;

/// With fewer matrices there is no rule.
inline constexpr std::size_t least_rule_matrices = 8;

/// Grows a tree that minimises the sum of the logarithms of regrets (CART: Breiman, Friedman, Olshen and Stone 1984): each
/// condition is the best of all metrics and thresholds for the matrices of its node. The leaves are recipes of the set.
[[nodiscard]] Rule grow_rule(const TimeTable& table, const std::vector<std::size_t>& matrices,
                             const std::vector<std::size_t>& recipes);

/// The recipe that the rule assigns to a matrix.
[[nodiscard]] std::size_t recipe_by(const Rule& rule, const TimeTable& table, std::size_t matrix);

/// The number with the fewest digits that is above `low` and not above `high`, near their mean.
[[nodiscard]] double roundest_between(double low, double high);

/// The regret on the matrices that a choice was made from, and on each matrix with the choice made from the others.
struct Validated {
    Regret in_sample;
    Regret cross_validated;
};

struct RuleStudy {
    RecipeSet set;
    Rule rule;
    std::size_t single_recipe = 0;  // the best recipe if only one is used
    Validated by_rule;
    Validated single;
    Validated fastest;  // the fastest recipe of the set on each matrix, found by trying all of them
};

/// The rule for the best set of at most `count` recipes; none if there are too few matrices.
[[nodiscard]] std::optional<RuleStudy> study_rule(const TimeTable& table, std::size_t count);

/// The rules of all devices and precisions.
[[nodiscard]] std::string rule_tables(const std::vector<Record>& records, std::size_t count, TableFormat format);

}  // namespace workbench
