#include "core/input/texts/fortran_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>

#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr int largest_count = 10000;  // limit of all counts in a format
constexpr int deepest = 3;            // of parentheses

/// The number in a part of a match, `missing` if it is empty; none if it exceeds the limit.
std::optional<int> count_in(const std::csub_match& part, int missing) {
    const auto parsed = part.length() == 0 ? missing : parse_integer({part.first, part.second}).value_or(largest_count + 1);
    return std::abs(parsed) <= largest_count ? std::optional(static_cast<int>(parsed)) : std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<FortranFormat> parse_fortran_format(std::string_view text) {
    // Each parenthesis may have a scale factor and a repeat count. std::regex recurses, so that digits are limited.
    static const std::regex opening(R"(\((?:(-?\d{1,9})p,?)?(\d{0,9}))");
    static const std::regex field(R"((i|[fdg]|e[sn]?)(\d{1,9})(?:\.(\d{1,9})(e\d{1,4})?)?)");
    std::string plain = lower_case(text);
    plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
    const char* at = plain.data();
    const char* const end = at + plain.size();
    std::cmatch match;
    const auto finds = [&](const std::regex& part) {
        const bool found = std::regex_search(at, end, match, part, std::regex_constants::match_continuous);
        if (found) at = match[0].second;
        return found;
    };
    FortranFormat format;
    int depth = 0;
    for (; finds(opening); ++depth) {
        const auto scale = count_in(match[1], format.scale);
        const auto fields = count_in(match[2], 1);
        if (depth == deepest || !scale || !fields) return std::nullopt;
        format.scale = *scale;
        format.fields *= *fields;
        if (format.fields < 1 || format.fields > largest_count) return std::nullopt;
    }
    if (depth == 0 || !finds(field)) return std::nullopt;
    const bool integer = match[1].str() == "i";
    const auto width = count_in(match[2], 0);
    const auto decimals = count_in(match[3], 0);
    const bool closed = std::string_view(at, end) == std::string(depth, ')');
    if (!width || *width < 1 || !decimals || (integer && match[4].matched) || !closed) return std::nullopt;
    format.kind = integer ? 'i' : 'f';
    format.width = *width;
    format.decimals = integer ? 0 : *decimals;
    return format;
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
