#include "core/input/texts/fortran_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr int largest_count = 10000;  // limit of all counts in a format

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::optional<FortranFormat> format() {
        FortranFormat format;
        if (!take('(') || !items(format, 1) || !text_.empty()) return std::nullopt;
        return format;
    }

private:
    [[nodiscard]] char front() const { return text_.empty() ? '\0' : text_.front(); }

    bool take(char c) {
        if (front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    std::optional<int> number() {
        const auto end = std::min(text_.find_first_not_of("0123456789"), text_.size());
        const auto parsed = parse_integer(text_.substr(0, end));
        if (!parsed || *parsed > largest_count) return std::nullopt;
        text_.remove_prefix(end);
        return static_cast<int>(*parsed);
    }

    /// Parses an optional scale factor, then a field or a parenthesized group, then ")".
    bool items(FortranFormat& format, int depth) {
        constexpr int deepest = 3;
        if (depth > deepest) return false;
        bool negative = take('-');
        auto count = number();
        if (count && take('p')) {
            format.scale = negative ? -*count : *count;
            take(',');
            negative = false;
            count = number();
        }
        if (negative) return false;
        format.fields *= count.value_or(1);
        if (format.fields < 1 || format.fields > largest_count) return false;
        const bool inside = take('(') ? items(format, depth + 1) : field(format);
        return inside && take(')');
    }

    bool field(FortranFormat& format) {
        const bool integer = take('i');
        if (!integer && !take('f') && !take('d') && !take('g')) {
            if (!take('e')) return false;
            if (!take('s')) take('n');
        }
        format.kind = integer ? 'i' : 'f';
        const auto width = number();
        if (!width || *width < 1) return false;
        format.width = *width;
        if (take('.')) {
            const auto decimals = number();
            if (!decimals) return false;
            format.decimals = integer ? 0 : *decimals;
            if (!integer && take('e') && !number()) return false;
        }
        return true;
    }

    std::string_view text_;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<FortranFormat> parse_fortran_format(std::string_view text) {
    std::string plain = lower_case(text);
    plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
    return Parser(plain).format();
}

std::optional<double> parse_fortran_real(std::string_view field, const FortranFormat& format) {
    const std::string_view word = next_word(field);
    if (word.empty() || !next_word(field).empty()) return std::nullopt;
    // The exponent begins at a letter, or at a sign that is not the first character.
    const auto* const end = std::find_if(word.begin() + 1, word.end(), [](char c) { return !is_digit(c) && c != '.'; });
    const std::string_view digits = word.substr(0, end - word.begin());
    if (digits.find_first_of("0123456789") == std::string_view::npos) return parse_real(word);  // inf, nan, or nothing
    std::string_view exponent = word.substr(digits.size());
    // Most fields need no conversion.
    if (digits.find('.') != std::string_view::npos && exponent.find_first_of("eE") == 0) return parse_real(word);
    std::int64_t power = 0;
    if (exponent.empty()) {
        power = -format.scale;
    } else {
        if (exponent.find_first_of("eEdDqQ") == 0) exponent.remove_prefix(1);
        const auto parsed = parse_integer(exponent);
        if (!parsed || std::abs(*parsed) > 1000000) return std::nullopt;
        power = *parsed;
    }
    if (digits.find('.') == std::string_view::npos) power -= format.decimals;
    return parse_real(power == 0 ? std::string(digits) : fmt::format("{}e{}", digits, power));
}

}  // namespace workbench
