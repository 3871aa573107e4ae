// Decision rules as text, CSV and LaTeX.
#include <algorithm>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/rule.hpp"

namespace workbench {
namespace {

/// "30,000", "0.35".
std::string number_text(double number) {
    const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
    return is_whole ? with_commas(std::llround(number)) : fmt::format("{}", number);
}

std::string rule_regret_text(const Regret& regret) {
    const std::string mean = ratio_text(regret.geometric_mean());
    return regret.unserved() == 0 ? mean : fmt::format("{} unserved, {}", regret.unserved(), mean);
}

/// Adds the rows of a node and of the nodes below it. `condition`: the node's condition, indented.
void add_rows(const RuleStudy& study, const TimeTable& table, std::size_t number, const std::string& condition, int depth,
              PrintedTable& printed) {
    const RuleNode& node = study.rule[number];
    const auto indented = [](const std::string& text, int steps) {
        return std::string(2UL * static_cast<unsigned>(steps), ' ') + text;
    };
    if (node.metric.empty()) {
        printed.rows.push_back(
            {condition, table.recipes[node.recipe], std::to_string(node.matrices), rule_regret_text(node.regret)});
        return;
    }
    if (depth > 0) printed.rows.push_back({condition, "", "", ""});
    const std::string below = fmt::format("{} < {}", node.metric, number_text(node.threshold));
    add_rows(study, table, node.below, indented(below, depth), depth + 1, printed);
    add_rows(study, table, node.above, indented("otherwise", depth), depth + 1, printed);
}

/// Says if the rule is no better than one recipe, and which recipes are tied with that one; empty if there is nothing to say.
std::string comment_on(const RuleStudy& study, const TimeTable& table) {
    const std::string& single = table.recipes[study.single_recipe];
    std::string text;
    const double least_gain = std::log(least_rule_gain) * static_cast<double>(table.matrices.size());
    const bool is_better = study.by_rule.cross_validated.is_better_than(study.single.cross_validated, least_gain);
    if (!study.rule.front().metric.empty() && !is_better) {
        text = fmt::format("This rule is no better than always {} on matrices that it was not grown from: use that recipe.",
                           single);
    }
    std::vector<std::string> tied;
    for (std::size_t recipe = 0; recipe < table.recipes.size(); ++recipe) {
        const bool is_tied = std::ranges::all_of(table.log_regrets, [&](const std::vector<double>& of_matrix) {
            return of_matrix[recipe] == 0 && of_matrix[study.single_recipe] == 0;
        });
        if (is_tied && recipe != study.single_recipe) tied.push_back(table.recipes[recipe]);
    }
    if (tied.empty()) return text;
    return text + fmt::format("{}On all matrices {} is tied with {}: the times do not rank them.", text.empty() ? "" : " ",
                              single, fmt::join(tied, ", "));
}

PrintedTable rule_table(const RuleStudy& study, const TimeTable& table) {
    PrintedTable printed{.caption = fmt::format("{}: which recipe when", heading_of(table.device, table.precision,
                                                                                    static_cast<int>(table.matrices.size()))),
                         .header = {"if", "use", "matrices", "regret"},
                         .left_columns = 2,
                         .name_width = 20};
    add_rows(study, table, 0, "always", 0, printed);
    return printed;
}

struct RuleChoice {
    std::string what;
    const Validated& validated;
};

std::vector<RuleChoice> choices_of(const RuleStudy& study, const TimeTable& table) {
    return {{"this rule", study.by_rule},
            {"always " + table.recipes[study.single_recipe], study.single},
            {fmt::format("the fastest of the {}, by trying", study.set.recipes.size()), study.fastest}};
}

PrintedTable validation_table(const RuleStudy& study, const TimeTable& table) {
    PrintedTable printed{.caption = "Regret, geometric mean over the matrices",
                         .header = {"choice", "in-sample", "cross-validated"},
                         .name_width = 36};
    printed.note = comment_on(study, table);
    for (const RuleChoice& choice : choices_of(study, table)) {
        printed.rows.push_back(
            {choice.what, rule_regret_text(choice.validated.in_sample), rule_regret_text(choice.validated.cross_validated)});
    }
    return printed;
}

void add_leaves_csv(const RuleStudy& study, const TimeTable& table, std::size_t number, const std::string& conditions,
                    std::string& text) {
    const RuleNode& node = study.rule[number];
    const std::string start = fmt::format("{},{},", table.device, table.precision);
    if (node.metric.empty()) {
        text += fmt::format("{}leaf,{},{},{},{},{},,\n", start, for_csv(conditions), for_csv(table.recipes[node.recipe]),
                            node.matrices, node.regret.unserved(), node.regret.geometric_mean());
        return;
    }
    const std::string before = conditions.empty() ? "" : conditions + " and ";
    add_leaves_csv(study, table, node.below, fmt::format("{}{} < {}", before, node.metric, node.threshold), text);
    add_leaves_csv(study, table, node.above, fmt::format("{}{} >= {}", before, node.metric, node.threshold), text);
}

std::string rule_csv(const RuleStudy& study, const TimeTable& table) {
    std::string text;
    add_leaves_csv(study, table, 0, "", text);
    for (const RuleChoice& choice : choices_of(study, table)) {
        const Validated& both = choice.validated;
        text += fmt::format("{},{},choice,,{},{},{},{},{},{}\n", table.device, table.precision, for_csv(choice.what),
                            table.matrices.size(), both.in_sample.unserved(), both.in_sample.geometric_mean(),
                            both.cross_validated.unserved(), both.cross_validated.geometric_mean());
    }
    return text;
}

constexpr const char* regret_note =
    "  regret: the time of the chosen recipe over that of the fastest of all recipes; 1 if it is tied with that one. "
    "cross-validated: on each matrix, the "
    "regret of the recipes and the rule that the other matrices give.";

std::string text_of(const RuleStudy& study, const TimeTable& table) {
    const std::string note = study.set.exact ? "" : " The set was found by a greedy search with exchanges.";
    return rule_table(study, table).text() + '\n' + validation_table(study, table).text() + wrapped(regret_note + note);
}

}  // namespace

std::string rule_tables(const std::vector<Record>& records, std::size_t count, TableFormat format) {
    std::string text;
    const bool csv = format == TableFormat::csv;
    if (csv) text = "device,precision,what,conditions,recipe,matrices,unserved,regret,validated_unserved,validated_regret\n";
    for (const TimeTable& table : time_tables(records)) {
        const std::optional<RuleStudy> study = study_rule(table, count);
        if (!study) {
            const std::string few = fmt::format(
                "{}: too few for a rule, which would mean nothing; expected at least {}\n",
                heading_of(table.device, table.precision, static_cast<int>(table.matrices.size())), least_rule_matrices);
            if (format == TableFormat::text) text += (text.empty() ? "" : "\n") + few;
            if (format == TableFormat::tex) text += "% " + few;
        } else if (csv) {
            text += rule_csv(*study, table);
        } else if (format == TableFormat::tex) {
            text += rule_table(*study, table).tex(table_name("rule", table.device, table.precision)) +
                    validation_table(*study, table).tex(table_name("regret", table.device, table.precision));
        } else {
            text += (text.empty() ? "" : "\n") + text_of(*study, table);
        }
    }
    return text.empty() ? "nothing was measured\n" : text;
}

}  // namespace workbench
