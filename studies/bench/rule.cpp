#include "studies/bench/rule.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace workbench {
namespace {

/// The metrics that all matrices have. If conditions are equally good, the first is taken, so that familiar metrics come first.
std::vector<std::string> metrics_of(const TimeTable& table) {
    std::vector<std::string> names{
        "row_length.mean", "row_length.max", "row_length.std", "sell32_padding", "mean_bandwidth", "nonzeros", "rows"};
    for (const auto& [name, value] : table.metrics.front()) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::erase_if(names, [&table](const std::string& name) {
        return !std::ranges::all_of(table.metrics, [&name](const auto& metrics) { return metrics.contains(name); });
    });
    return names;
}

class RuleGrower {
public:
    RuleGrower(const TimeTable& table, std::vector<std::size_t> recipes, std::size_t matrices)
        : table_(table),
          recipes_(std::move(recipes)),
          metrics_(metrics_of(table)),
          least_gain_(std::log(least_rule_gain) * static_cast<double>(matrices)) {
        for (const std::string& metric : metrics_) {
            std::vector<double> values;
            for (const auto& metrics : table.metrics) values.push_back(metrics.at(metric));
            values_.push_back(std::move(values));
        }
    }

    /// Appends the tree of these matrices; returns the number of its root.
    std::size_t grow(const std::vector<std::size_t>& matrices, int depth) {
        const std::size_t node = rule_.size();
        rule_.emplace_back();
        const Leaf leaf = best_leaf(regrets_of(matrices));
        rule_[node].recipe = leaf.recipe;
        rule_[node].regret = leaf.regret;
        rule_[node].matrices = static_cast<int>(matrices.size());
        const Split split = depth == 0 ? Split{} : best_split(matrices);
        if (!split.metric || !split.regret.is_better_than(leaf.regret, least_gain_)) return node;
        std::vector<std::size_t> below;
        std::vector<std::size_t> above;
        for (const std::size_t matrix : matrices) {
            (values_[*split.metric][matrix] < split.threshold ? below : above).push_back(matrix);
        }
        rule_[node].metric = metrics_[*split.metric];
        rule_[node].threshold = split.threshold;
        const std::size_t first = grow(below, depth - 1);
        const std::size_t second = grow(above, depth - 1);
        rule_[node].below = first;
        rule_[node].above = second;
        return node;
    }

    [[nodiscard]] Rule take() { return std::move(rule_); }

private:
    struct Leaf {
        std::size_t recipe = 0;
        Regret regret;
    };
    struct Split {
        std::optional<std::size_t> metric = {};
        double threshold = 0;
        Regret regret;  // of both sides
    };

    /// The regret of each recipe of the set.
    [[nodiscard]] std::vector<Regret> regrets_of(const std::vector<std::size_t>& matrices) const {
        std::vector<Regret> regrets(recipes_.size());
        for (const std::size_t matrix : matrices) add(matrix, regrets);
        return regrets;
    }

    void add(std::size_t matrix, std::vector<Regret>& regrets) const {
        for (std::size_t i = 0; i < recipes_.size(); ++i) regrets[i].add(table_.log_regrets[matrix][recipes_[i]]);
    }

    [[nodiscard]] Leaf best_leaf(const std::vector<Regret>& regrets) const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < regrets.size(); ++i) {
            if (regrets[i].is_better_than(regrets[best])) best = i;
        }
        return {recipes_[best], regrets[best]};
    }

    [[nodiscard]] Split best_split(std::vector<std::size_t> matrices) const {
        Split best;
        for (std::size_t metric = 0; metric < metrics_.size(); ++metric) {
            const auto value = [&values = values_[metric]](std::size_t matrix) { return values[matrix]; };
            std::ranges::stable_sort(matrices, {}, value);
            std::vector<Regret> above_from(matrices.size());  // of the best leaf for the matrices from i on
            std::vector<Regret> above(recipes_.size());
            for (std::size_t i = matrices.size(); i-- > 0;) {
                add(matrices[i], above);
                above_from[i] = best_leaf(above).regret;
            }
            std::vector<Regret> below(recipes_.size());
            for (std::size_t i = 1; i + leaf_matrices <= matrices.size(); ++i) {
                add(matrices[i - 1], below);
                if (i < leaf_matrices || value(matrices[i - 1]) == value(matrices[i])) continue;
                Regret both = best_leaf(below).regret;
                both.add(above_from[i]);
                if (best.metric && !both.is_better_than(best.regret)) continue;
                best = {metric, roundest_between(value(matrices[i - 1]), value(matrices[i])), both};
            }
        }
        return best;
    }

    const TimeTable& table_;
    std::vector<std::size_t> recipes_;
    std::vector<std::string> metrics_;
    std::vector<std::vector<double>> values_;  // [metric][matrix]
    double least_gain_;
    Rule rule_;
};

}  // namespace

double roundest_between(double low, double high) {
    const double middle = low > 0 && high > 10 * low ? std::sqrt(low) * std::sqrt(high) : low + (high - low) / 2;
    for (int digits = 0; digits < 17; ++digits) {
        const double rounded = std::strtod(fmt::format("{:.{}e}", middle, digits).c_str(), nullptr);
        if (low < rounded && rounded <= high) return rounded;
    }
    return high;
}

Rule grow_rule(const TimeTable& table, const std::vector<std::size_t>& matrices, const std::vector<std::size_t>& recipes) {
    RuleGrower grower(table, recipes, matrices.size());
    (void)grower.grow(matrices, rule_depth);
    return grower.take();
}

std::size_t recipe_by(const Rule& rule, const TimeTable& table, std::size_t matrix) {
    std::size_t node = 0;
    while (!rule[node].metric.empty()) {
        const bool is_below = table.metrics[matrix].at(rule[node].metric) < rule[node].threshold;
        node = is_below ? rule[node].below : rule[node].above;
    }
    return rule[node].recipe;
}

std::optional<RuleStudy> study_rule(const TimeTable& table, std::size_t count) {
    const std::vector<std::size_t> all = table.all();
    if (all.size() < least_rule_matrices) return std::nullopt;
    RuleStudy study;
    study.set = best_set(table, all, count);
    study.rule = grow_rule(table, all, study.set.recipes);
    study.single_recipe = best_set(table, all, 1).recipes.front();
    const double sets_of_each = compared_sets / static_cast<double>(all.size());
    for (const std::size_t matrix : all) {
        const std::vector<double>& log_regrets = table.log_regrets[matrix];
        study.by_rule.in_sample.add(log_regrets[recipe_by(study.rule, table, matrix)]);
        study.single.in_sample.add(log_regrets[study.single_recipe]);
        study.fastest.in_sample.add(log_regrets[study.set.fastest_on(table, matrix)]);

        std::vector<std::size_t> others = all;
        std::erase(others, matrix);
        const RecipeSet set = best_set(table, others, count, sets_of_each);
        const Rule rule = grow_rule(table, others, set.recipes);
        study.by_rule.cross_validated.add(log_regrets[recipe_by(rule, table, matrix)]);
        study.single.cross_validated.add(log_regrets[best_set(table, others, 1).recipes.front()]);
        study.fastest.cross_validated.add(log_regrets[set.fastest_on(table, matrix)]);
    }
    return study;
}

}  // namespace workbench
