// Expressions of words, signs and brackets, whose meaning is the caller's: numbers of threads (core/contract/kernel_source.hpp)
// and conditions of spaces (pipeline/recipe/space_condition.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace workbench {

/// A part of an expression. open_quote: the text ends before the quote does. other: a character that can be in no expression.
struct ExpressionToken {
    enum class Type { word, quoted, sign, open_quote, other, end };
    Type type = Type::end;
    std::string_view text = {};  // without quotes; empty at the end, and of other characters
    std::size_t at = 0;          // bytes of the expression before it
};

/// The letters of words beside those of the alphabet and digits; the signs, longer ones before those with which they begin.
struct ExpressionSigns {
    std::string_view letters;
    std::span<const std::string_view> signs;
    std::string_view quotes = {};
};

/// The tokens of an expression, which must outlive them, one after the other.
class ExpressionReader {
public:
    ExpressionReader(std::string_view text, const ExpressionSigns& signs);

    /// The last one is the end.
    [[nodiscard]] const std::vector<ExpressionToken>& tokens() const { return tokens_; }
    [[nodiscard]] const ExpressionToken& token() const { return tokens_[next_]; }
    [[nodiscard]] bool at_end() const { return token().type == ExpressionToken::Type::end; }
    void advance() { ++next_; }
    /// True if the token is this word or sign, which is then passed.
    bool take(std::string_view text);

private:
    std::vector<ExpressionToken> tokens_;
    std::size_t next_ = 0;
};

/// Parses operands that are joined by operators, which bind from left to right. levels: the operators, those that bind least
/// first. operand() parses an operand; join(operator, left, right) returns the result of an operator.
auto parse_joined(ExpressionReader& reader, std::span<const std::span<const std::string_view>> levels, const auto& operand,
                  const auto& join) -> decltype(operand()) {
    if (levels.empty()) return operand();
    auto left = parse_joined(reader, levels.subspan(1), operand, join);
    for (std::size_t i = 0; i < levels.front().size(); ++i) {
        if (!reader.take(levels.front()[i])) continue;
        left = join(levels.front()[i], left, parse_joined(reader, levels.subspan(1), operand, join));
        i = static_cast<std::size_t>(-1);  // any operator of the level may follow
    }
    return left;
}

}  // namespace workbench
