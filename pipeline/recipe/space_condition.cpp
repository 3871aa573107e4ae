#include "pipeline/recipe/space_condition.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_condition = 1000;
constexpr int deepest_condition = 50;  // brackets and `not`

bool is_letter_of_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           std::string_view("_.-+/").find(letter) != std::string_view::npos;
}

/// A word, an operator or a bracket of a condition.
struct Token {
    std::string text = {};  // empty: the end
    std::size_t at = 0;     // the number of characters before it
    bool quoted = false;
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

/// Parses by recursive descent: any := all {"or" all}, all := term {"and" term}, term := "not" term | "(" any ")" | comparison.
class ConditionParser {
public:
    ConditionParser(const Setting& setting, const ConditionNames& names, Diagnostics& diagnostics)
        : text_(*setting.as<std::string>()), place_(setting.value_place), names_(names), diagnostics_(diagnostics) {}

    std::optional<SpaceCondition> parse() {
        if (!split()) return std::nullopt;
        if (tokens_.size() == 1) return fail(tokens_.front(), "found an empty condition; expected one such as rows > 1000");
        if (!any(0)) return std::nullopt;
        if (!token().text.empty()) return fail(token(), fmt::format("{}; expected 'and', 'or' or the end", found()));
        return std::move(condition_);
    }

private:
    using Kind = SpaceCondition::Kind;
    using Operator = SpaceCondition::Operator;
    using Node = SpaceCondition::Node;

    std::nullopt_t fail(const Token& token, const std::string& message) {
        RecipePlace place = place_;
        if (place.option < 0) place.column += 1 + static_cast<int>(token.at);  // after the quote
        diagnostics_.add(place, "when: {}", message);
        return std::nullopt;
    }

    [[nodiscard]] const Token& token() const { return tokens_[next_]; }
    [[nodiscard]] std::string found() const {
        return token().text.empty() ? "found the end" : fmt::format("found '{}'", printable(token().text, 40));
    }

    bool split() {
        if (text_.size() > longest_condition) {
            fail({}, fmt::format("found more than {} characters; expected fewer", longest_condition));
            return false;
        }
        constexpr std::array<std::string_view, 9> signs = {"!=", "<=", ">=", "==", "=", "<", ">", "(", ")"};
        for (std::size_t at = 0; at < text_.size();) {
            const char letter = text_[at];
            if (letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r') {
                ++at;
                continue;
            }
            const std::string_view rest = std::string_view(text_).substr(at);
            const std::size_t characters_before = characters(std::string_view(text_).substr(0, at)).size();
            Token token{"", characters_before, letter == '"' || letter == '\''};
            std::size_t length = 0;
            if (token.quoted) {
                const std::size_t end = rest.find(letter, 1);
                if (end == std::string_view::npos) {
                    fail(token, "found a quote that is not closed");
                    return false;
                }
                token.text = rest.substr(1, end - 1);
                length = end + 1;
            } else if (const auto sign = std::ranges::find_if(signs, [&](auto each) { return rest.starts_with(each); });
                       sign != signs.end()) {
                token.text = *sign;
                length = sign->size();
            } else {
                while (length < rest.size() && is_letter_of_word(rest[length])) ++length;
                token.text = rest.substr(0, length);
                if (length == 0) {
                    fail(token, fmt::format("found '{}'; expected a name, a number, a comparison or a bracket",
                                            characters(rest).front()));
                    return false;
                }
            }
            tokens_.push_back(std::move(token));
            at += length;
        }
        tokens_.push_back({"", characters(text_).size()});
        return true;
    }

    std::optional<std::size_t> add(Node node) {
        condition_.nodes_.push_back(std::move(node));
        return condition_.nodes_.size() - 1;
    }

    [[nodiscard]] bool is_word(std::string_view word) const { return !token().quoted && token().text == word; }

    /// Parts joined by one word, or the only part itself.
    template <typename Part>
    std::optional<std::size_t> joined(Kind kind, std::string_view word, const Part& part) {
        Node node{.kind = kind};
        for (;;) {
            const std::optional<std::size_t> one = part();
            if (!one) return std::nullopt;
            node.of.push_back(*one);
            if (!is_word(word)) break;
            ++next_;
        }
        return node.of.size() == 1 ? node.of.front() : add(std::move(node));
    }

    std::optional<std::size_t> any(int depth) {
        return joined(Kind::any, "or", [&] { return joined(Kind::all, "and", [&] { return term(depth); }); });
    }

    std::optional<std::size_t> term(int depth) {
        if (depth > deepest_condition) return fail(token(), "found too many brackets and 'not'; expected fewer");
        if (is_word("not")) {
            ++next_;
            const auto negated = term(depth + 1);
            return negated ? add({.kind = Kind::negation, .of = {*negated}}) : std::nullopt;
        }
        if (!is_word("(")) return comparison();
        ++next_;
        const auto inner = any(depth + 1);
        if (!inner) return std::nullopt;
        if (!is_word(")")) return fail(token(), found() + "; expected ')'");
        ++next_;
        // The last node must be the whole condition.
        return inner;
    }

    std::optional<std::size_t> comparison() {
        const Token name = token();
        const auto known = names_.find(name.text);
        if (name.text.empty() || name.quoted) return fail(name, found() + "; expected the name of a fact or of a choice");
        if (known == names_.end()) {
            return fail(name, fmt::format("unknown name '{}'{}", printable(name.text, 60), expected_name(name.text)));
        }
        ++next_;
        Node node{.name = name.text, .what = known->second};
        constexpr std::array<std::pair<std::string_view, Operator>, 6> operators = {{{"=", Operator::equal},
                                                                                     {"!=", Operator::unequal},
                                                                                     {"<", Operator::less},
                                                                                     {"<=", Operator::at_most},
                                                                                     {">", Operator::greater},
                                                                                     {">=", Operator::at_least}}};
        const auto found_operator = std::ranges::find_if(operators, [&](const auto& each) { return is_word(each.first); });
        if (found_operator == operators.end()) {
            if (known->second.is_truth && !is_word("==")) return add(std::move(node));
            return fail(token(), fmt::format("{} after '{}'; expected one of = != < <= > >=", found(), name.text));
        }
        node.operation = found_operator->second;
        const bool orders = node.operation != Operator::equal && node.operation != Operator::unequal;
        ++next_;
        return compared(std::move(node), name.text, orders);
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

    std::optional<std::size_t> compared(Node node, const std::string& name, bool orders) {
        const Token value = token();
        const ConditionName& what = node.what;
        if (value.text.empty() && !value.quoted) return fail(value, "found the end; expected a value to compare with");
        if (!value.quoted && what.is_truth && !orders && (value.text == "true" || value.text == "false")) {
            node.value = value.text == "true";
        } else if (const auto number = number_of(value.text); number && !value.quoted && what.is_number) {
            node.value = *number;
        } else if (!orders && (what.any_word || std::ranges::count(what.words, value.text) > 0)) {
            node.value = value.text;
        } else {
            return fail(value, fmt::format("{} for '{}'; expected {}", found(), name, expected(what, orders, value.text)));
        }
        ++next_;
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
    RecipePlace place_;
    const ConditionNames& names_;
    Diagnostics& diagnostics_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
    SpaceCondition condition_;
};

std::optional<SpaceCondition> SpaceCondition::parse(const Setting& setting, const ConditionNames& names,
                                                    Diagnostics& diagnostics) {
    if (setting.as<std::string>() == nullptr) {
        diagnostics.add(setting.value_place, "when: {}, expected a condition in quotes, such as \"rows > 1000\"",
                        found_text(setting));
        return std::nullopt;
    }
    return ConditionParser(setting, names, diagnostics).parse();
}

bool SpaceCondition::may_hold(const SpaceFacts* facts, const ValueAt& value_at) const {
    return value_of(nodes_.back(), facts, value_at).value_or(true);
}

std::vector<std::size_t> SpaceCondition::places() const {
    std::vector<std::size_t> places;
    for (const Node& node : nodes_) {
        if (node.kind == Kind::comparison && !node.what.is_fact) places.push_back(node.what.place);
    }
    return places;
}

bool SpaceCondition::has_facts() const {
    return std::ranges::any_of(nodes_, [](const Node& node) { return node.kind == Kind::comparison && node.what.is_fact; });
}

std::optional<bool> SpaceCondition::value_of(const Node& node, const SpaceFacts* facts, const ValueAt& value_at) const {
    if (node.kind == Kind::negation) {
        const std::optional<bool> inner = value_of(nodes_[node.of.front()], facts, value_at);
        return inner ? std::optional(!*inner) : std::nullopt;
    }
    if (node.kind == Kind::comparison) {
        if (!node.what.is_fact) {
            const std::optional<ParameterValue> value = value_at(node.what.place, node.what.key);
            return value && compare(*value, node.operation, node.value);
        }
        if (facts == nullptr || !facts->contains(node.name)) return std::nullopt;
        return compare(facts->at(node.name), node.operation, node.value);
    }
    // One part may decide although others are unknown.
    const bool deciding = node.kind == Kind::any;
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
