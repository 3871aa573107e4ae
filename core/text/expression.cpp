#include "core/text/expression.hpp"

#include <algorithm>

namespace workbench {
namespace {

bool is_letter(char letter, std::string_view more) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           more.find(letter) != std::string_view::npos;
}

}  // namespace

ExpressionReader::ExpressionReader(std::string_view text, const ExpressionSigns& signs) {
    using Type = ExpressionToken::Type;
    constexpr std::string_view blanks = " \t\n\r";
    for (std::size_t at = text.find_first_not_of(blanks); at < text.size(); at = text.find_first_not_of(blanks, at)) {
        const std::string_view rest = text.substr(at);
        const auto add = [&](Type type, std::string_view of_token, std::size_t length) {
            tokens_.push_back({type, of_token, at});
            at += length;
        };
        if (signs.quotes.find(rest.front()) != std::string_view::npos) {
            const std::size_t end = rest.find(rest.front(), 1);
            if (end == std::string_view::npos) {
                add(Type::open_quote, rest, rest.size());
            } else {
                add(Type::quoted, rest.substr(1, end - 1), end + 1);
            }
        } else if (const auto sign = std::ranges::find_if(signs.signs, [&](auto each) { return rest.starts_with(each); });
                   sign != signs.signs.end()) {
            add(Type::sign, *sign, sign->size());
        } else {
            const auto is_end = [&](char letter) { return !is_letter(letter, signs.letters); };
            const auto length = static_cast<std::size_t>(std::ranges::find_if(rest, is_end) - rest.begin());
            add(length == 0 ? Type::other : Type::word, rest.substr(0, length), std::max<std::size_t>(length, 1));
        }
    }
    tokens_.push_back({Type::end, {}, text.size()});
}

bool ExpressionReader::take(std::string_view text) {
    const bool is_right = token().text == text && token().type != ExpressionToken::Type::quoted && !at_end();
    if (is_right) advance();
    return is_right;
}

}  // namespace workbench
