#include "pipeline/recipe/space_condition.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "core/text/expression.hpp"
#include "core/text/suggestion.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_condition = 1000;
constexpr int deepest_condition = 50;  // brackets and `not`

constexpr std::array<std::string_view, 9> signs = {"!=", "<=", ">=", "==", "=", "<", ">", "(", ")"};
constexpr std::array<std::string_view, 1> disjunction = {"or"};
constexpr std::array<std::string_view, 1> conjunction = {"and"};
constexpr std::array<std::span<const std::string_view>, 2> levels = {disjunction, conjunction};

using Token = ExpressionToken;

/// What is wrong with a condition.
struct ConditionError {
    Token token;
    std::string message;
};

std::optional<double> number_of(std::string_view text) {
    double number = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

double as_number(const ParameterValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
    return std::get<double>(value);
}

}  // namespace

/// any := all {"or" all}, all := term {"and" term}, term := "not" term | "(" any ")" | comparison.
class ConditionParser {
public:
    ConditionParser(const std::string& text, const ConditionNames& names)
        : text_(text), names_(names), reader_(text, {.letters = "_.-+/", .signs = signs, .quotes = "\"'"}) {}

    /// Throws ConditionError.
    SpaceCondition parse() {
        if (text_.size() > longest_condition) {
            fail({}, fmt::format("found more than {} characters; expected fewer", longest_condition));
        }
        for (const Token& token : reader_.tokens()) {
            if (token.type == Token::Type::open_quote) fail(token, "found a quote that is not closed");
            if (token.type != Token::Type::other) continue;
            fail(token, fmt::format("found '{}'; expected a name, a number, a comparison or a bracket",
                                    characters(std::string_view(text_).substr(token.at)).front()));
        }
        if (reader_.at_end()) fail(token(), "found an empty condition; expected one such as rows > 1000");
        (void)any(0);
        if (!reader_.at_end()) fail(token(), fmt::format("{}; expected 'and', 'or' or the end", found()));
        return std::move(condition_);
    }

private:
    using NodeKind = SpaceCondition::NodeKind;
    using Operator = SpaceCondition::Operator;
    using ConditionNode = SpaceCondition::ConditionNode;

    [[noreturn]] static void fail(const Token& token, const std::string& message) { throw ConditionError{token, message}; }

    [[nodiscard]] const Token& token() const { return reader_.token(); }
    [[nodiscard]] bool is_quoted() const { return token().type == Token::Type::quoted; }
    [[nodiscard]] std::string found() const {
        return token().text.empty() ? "found the end" : fmt::format("found '{}'", printable(std::string(token().text), 40));
    }

    std::size_t add(ConditionNode node) {
        condition_.nodes_.push_back(std::move(node));
        return condition_.nodes_.size() - 1;
    }

    /// Adds nodes for a part of the condition, the last of which is the whole part.
    std::size_t any(int depth) {
        return parse_joined(
            reader_, levels, [&] { return term(depth); },
            [this](std::string_view word, std::size_t left, std::size_t right) {
                return add({.kind = word == "or" ? NodeKind::any : NodeKind::all, .of = {left, right}});
            });
    }

    std::size_t term(int depth) {
        if (depth > deepest_condition) fail(token(), "found too many brackets and 'not'; expected fewer");
        if (reader_.take("not")) return add({.kind = NodeKind::negation, .of = {term(depth + 1)}});
        if (!reader_.take("(")) return comparison();
        const std::size_t inner = any(depth + 1);
        if (!reader_.take(")")) fail(token(), found() + "; expected ')'");
        return inner;
    }

    std::size_t comparison() {
        const std::string name(token().text);
        if (name.empty() || is_quoted()) fail(token(), found() + "; expected the name of a fact or of a choice");
        const auto known = names_.find(name);
        if (known == names_.end()) {
            fail(token(), fmt::format("unknown name '{}'{}", printable(name, 60), expected_name(name)));
        }
        reader_.advance();
        ConditionNode node{.name = name, .what = known->second};
        constexpr std::array<std::pair<std::string_view, Operator>, 6> operators = {{{"=", Operator::equal},
                                                                                     {"!=", Operator::unequal},
                                                                                     {"<", Operator::less},
                                                                                     {"<=", Operator::at_most},
                                                                                     {">", Operator::greater},
                                                                                     {">=", Operator::at_least}}};
        const auto found_operator = std::ranges::find_if(operators, [&](const auto& each) { return reader_.take(each.first); });
        if (found_operator == operators.end()) {
            if (known->second.is_truth && (is_quoted() || token().text != "==")) return add(std::move(node));
            fail(token(), fmt::format("{} after '{}'; expected one of = != < <= > >=", found(), name));
        }
        node.operation = found_operator->second;
        return compared(std::move(node), name);
    }

    /// "; did you mean ...?", or the facts and the earlier places.
    [[nodiscard]] std::string expected_name(const std::string& unknown) const {
        std::vector<std::string> all;
        std::vector<std::string> shown;
        for (const auto& [name, what] : names_) {
            all.push_back(name);
            if (what.is_fact || (what.key == "use" && !name.ends_with(".use"))) shown.push_back(name);
        }
        const std::string suggestion = did_you_mean(unknown, all);
        return suggestion.empty() ? fmt::format("; expected one of {}, or a parameter of an earlier stage", join(shown))
                                  : suggestion;
    }

    std::size_t compared(ConditionNode node, const std::string& name) {
        const bool orders = node.operation != Operator::equal && node.operation != Operator::unequal;
        const std::string value(token().text);
        const ConditionName& what = node.what;
        if (value.empty() && !is_quoted()) fail(token(), "found the end; expected a value to compare with");
        if (!is_quoted() && what.is_truth && !orders && (value == "true" || value == "false")) {
            node.value = value == "true";
        } else if (const auto number = number_of(value); number && !is_quoted() && what.is_number) {
            node.value = *number;
        } else if (!orders && (what.any_word || std::ranges::count(what.words, value) > 0)) {
            node.value = value;
        } else {
            fail(token(), fmt::format("{} for '{}'; expected {}", found(), name, expected(what, orders, value)));
        }
        reader_.advance();
        return add(std::move(node));
    }

    [[nodiscard]] static std::string expected(const ConditionName& what, bool orders, const std::string& value) {
        if (orders) return what.is_number ? "a number" : "one of = and !=, because it has no order";
        std::string text = what.is_number ? "a number" : what.is_truth ? "true or false" : "";
        if (what.words.empty()) return text;
        if (text.empty() && what.words.size() == 1) return what.words.front();
        return text + (text.empty() ? "one of " : ", or one of ") + join(what.words) + did_you_mean(value, what.words);
    }

    const std::string& text_;
    const ConditionNames& names_;
    ExpressionReader reader_;
    SpaceCondition condition_;
};

std::optional<SpaceCondition> SpaceCondition::parse(const Setting& setting, const ConditionNames& names,
                                                    Diagnostics& diagnostics) {
    if (setting.as<std::string>() == nullptr) {
        diagnostics.add(setting.value_place, "when: {}, expected a condition in quotes, such as \"rows > 1000\"",
                        found_text(setting));
        return std::nullopt;
    }
    const std::string& text = *setting.as<std::string>();
    try {
        return ConditionParser(text, names).parse();
    } catch (const ConditionError& error) {
        RecipePlace place = setting.value_place;
        if (place.option < 0) {  // after the quote
            place.column += 1 + static_cast<int>(characters(std::string_view(text).substr(0, error.token.at)).size());
        }
        diagnostics.add(place, "when: {}", error.message);
        return std::nullopt;
    }
}

bool SpaceCondition::may_hold(const SpaceFacts* facts, const ValueAt& value_at) const {
    return value_of(nodes_.back(), facts, value_at).value_or(true);
}

std::vector<std::size_t> SpaceCondition::places() const {
    std::vector<std::size_t> places;
    for (const ConditionNode& node : nodes_) {
        if (node.kind == NodeKind::comparison && !node.what.is_fact) places.push_back(node.what.place);
    }
    return places;
}

bool SpaceCondition::has_facts() const {
    return std::ranges::any_of(
        nodes_, [](const ConditionNode& node) { return node.kind == NodeKind::comparison && node.what.is_fact; });
}

std::optional<bool> SpaceCondition::value_of(const ConditionNode& node, const SpaceFacts* facts,
                                             const ValueAt& value_at) const {
    if (node.kind == NodeKind::negation) {
        const std::optional<bool> inner = value_of(nodes_[node.of.front()], facts, value_at);
        return inner ? std::optional(!*inner) : std::nullopt;
    }
    if (node.kind == NodeKind::comparison) {
        if (!node.what.is_fact) {
            const std::optional<ParameterValue> value = value_at(node.what.place, node.what.key);
            return value && compare(*value, node.operation, node.value);
        }
        if (facts == nullptr || !facts->contains(node.name)) return std::nullopt;
        return compare(facts->at(node.name), node.operation, node.value);
    }
    // One part may decide although others are unknown.
    const bool deciding = node.kind == NodeKind::any;
    std::optional<bool> result = !deciding;
    for (const std::size_t part : node.of) {
        const std::optional<bool> one = value_of(nodes_[part], facts, value_at);
        if (one == deciding) return deciding;
        if (!one) result = std::nullopt;
    }
    return result;
}

bool SpaceCondition::compare(const ParameterValue& left, Operator operation, const ParameterValue& right) {
    const auto* left_word = std::get_if<std::string>(&left);
    const auto* right_word = std::get_if<std::string>(&right);
    if (left_word != nullptr || right_word != nullptr) {
        const bool same = left_word != nullptr && right_word != nullptr && *left_word == *right_word;
        return operation == Operator::equal ? same : operation == Operator::unequal && !same;
    }
    const double a = as_number(left);
    const double b = as_number(right);
    switch (operation) {
        case Operator::equal: return a == b;
        case Operator::unequal: return a != b;
        case Operator::less: return a < b;
        case Operator::at_most: return a <= b;
        case Operator::greater: return a > b;
        case Operator::at_least: return a >= b;
    }
    return false;
}

}  // namespace workbench
