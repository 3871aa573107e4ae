#include "core/input/texts/fortran_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr int largest_count = 10000;  // limit of all counts in a format, and of the items of a line
constexpr int deepest = 8;            // of parentheses

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Expands the items of a format into the fields of a line.
class FormatParser {
public:
    explicit FormatParser(std::string_view text) : text_(text) {}

    [[nodiscard]] std::optional<FortranFormat> parse() {
        FortranFormat format;
        if (!take('(') || !take_items(0, format.first) || at_ != text_.size()) return std::nullopt;
        at_ = last_group_;
        begin_ = items_ = 0;
        if (!take_items(0, format.later) || format.later.empty()) return std::nullopt;
        for (const auto* line : {&format.first, &format.later}) {
            const auto is_word = [](const FortranField& field) { return field.width == 0; };
            const auto words = std::ranges::count_if(*line, is_word);
            if (words != 0 && words != std::ssize(*line)) return std::nullopt;
        }
        return format;
    }

private:
    [[nodiscard]] bool sees(char c) const { return at_ < text_.size() && text_[at_] == c; }

    bool take(char c) {
        if (!sees(c)) return false;
        ++at_;
        return true;
    }

    /// The next digits as a number, `missing` if there are none; -1 if it is above the limit.
    int take_count(int missing) {
        const std::size_t first = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        if (at_ == first) return missing;
        const auto count = parse_integer(text_.substr(first, at_ - first));
        return count && *count <= largest_count ? static_cast<int>(*count) : -1;
    }

    /// Takes the items of a list and its closing parenthesis.
    bool take_items(int depth, std::vector<FortranField>& fields) {
        do {
            const std::size_t item = at_;
            const bool negative = take('-');
            const bool counted = at_ < text_.size() && is_digit(text_[at_]);
            const int count = take_count(1);
            if (count < 0 || ++items_ > largest_count || at_ == text_.size()) return false;
            if (counted && take('p')) {
                scale_ = negative ? -count : count;
            } else if (negative || count == 0) {
                return false;
            } else if (take('x')) {
                begin_ += count;
            } else if (take('(')) {
                if (depth == 0) last_group_ = item;
                if (!take_group(count, depth + 1, fields)) return false;
            } else if (!take_fields(count, fields)) {
                return false;
            }
        } while (take(',') || (at_ < text_.size() && !sees(')')));  // Fortran allows no comma after a scale factor
        return take(')');
    }

    /// A group is parsed each time that it is repeated, because a scale factor in it holds until the next one.
    bool take_group(int count, int depth, std::vector<FortranField>& fields) {
        const std::size_t begin = at_;
        for (int i = 0; i < count; ++i) {
            at_ = begin;
            if (depth == deepest || !take_items(depth, fields)) return false;
        }
        return true;
    }

    bool take_fields(int count, std::vector<FortranField>& fields) {
        FortranField field{.kind = 'f', .scale = scale_};
        if (take('i')) {
            field.kind = 'i';
        } else if (take('e')) {
            (void)(take('s') || take('n'));
        } else if (!take('f') && !take('d') && !take('g')) {
            return false;
        }
        constexpr int none = 0;
        const bool has_width = at_ < text_.size() && is_digit(text_[at_]);
        field.width = take_count(none);
        if (field.width < 0 || (has_width && field.width == 0)) return false;
        if (has_width && take('.')) {
            field.decimals = take_count(-1);
            if (field.decimals < 0 || (field.kind == 'f' && take('e') && take_count(-1) < 0)) return false;
        }
        if (field.kind == 'i') field.decimals = 0;  // the least number of digits, which only output uses
        for (items_ += count - 1; count > 0 && items_ <= largest_count; --count) {
            field.begin = begin_;
            begin_ += field.width;
            fields.push_back(field);
        }
        return count == 0;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t last_group_ = 1;  // of those that are in no other one; the first item if there is none
    int items_ = 0;
    int scale_ = 0;
    int begin_ = 0;
};

}  // namespace

std::optional<FortranFormat> parse_fortran_format(std::string_view text) {
    std::string plain = lower_case(text);
    plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
    return FormatParser(plain).parse();
}

std::optional<double> parse_fortran_real(std::string_view text, const FortranField& field) {
    const std::string_view word = next_word(text);
    if (word.empty() || !next_word(text).empty()) return std::nullopt;
    // The exponent begins at a letter, or at a sign that is not the first character.
    const auto* const end = std::find_if(word.begin() + 1, word.end(), [](char c) { return !is_digit(c) && c != '.'; });
    const std::string_view digits = word.substr(0, end - word.begin());
    if (digits.find_first_of("0123456789") == std::string_view::npos) return parse_real(word);  // inf, nan, or nothing
    std::string_view exponent = word.substr(digits.size());
    // Most fields need no conversion.
    if (digits.find('.') != std::string_view::npos && exponent.find_first_of("eE") == 0) return parse_real(word);
    std::int64_t power = 0;
    if (exponent.empty()) {
        power = -field.scale;
    } else {
        if (exponent.find_first_of("eEdDqQ") == 0) exponent.remove_prefix(1);
        const auto parsed = parse_integer(exponent);
        if (!parsed || std::abs(*parsed) > 1000000) return std::nullopt;
        power = *parsed;
    }
    if (digits.find('.') == std::string_view::npos) power -= field.decimals;
    return parse_real(power == 0 ? std::string(digits) : fmt::format("{}e{}", digits, power));
}

}  // namespace workbench
