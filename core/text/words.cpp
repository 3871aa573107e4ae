#include "core/text/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/text/text_table.hpp"

namespace workbench {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// std::from_chars does not accept a plus sign.
std::string_view without_plus(std::string_view word) {
    const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
    return plus ? word.substr(1) : word;
}

template <typename Number>
std::errc parse_whole(std::string_view word, Number& number) {
    word = without_plus(word);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc{} && end != word.data() + word.size()) return std::errc::invalid_argument;
    return error;
}

}  // namespace

std::string_view next_word(std::string_view& line) {
    std::size_t begin = 0;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

std::int64_t take_integer(std::string_view& line, std::string_view what, std::int64_t least, std::int64_t most) {
    const std::string_view word = next_word(line);
    const auto number = parse_integer(word);
    if (number && *number >= least && *number <= most) return *number;
    if (word.empty()) throw LineError{fmt::format("found the end of the line; expected the {}", what)};
    const std::string range =
        most == no_limit ? fmt::format(", {} or greater", least) : fmt::format(" from {} to {}", least, most);
    throw LineError{fmt::format("found the {} {}; expected an integer{}", what, in_quotes(word), range)};
}

void expect_end_of_line(std::string_view line, std::string_view expected) {
    const std::string_view more = next_word(line);
    if (!more.empty()) throw LineError{fmt::format("found {} at the end of the line; expected {}", in_quotes(more), expected)};
}

std::string lower_case(std::string_view word) {
    std::string result(word);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string in_quotes(std::string_view text, std::size_t longest) {
    std::string result = "'";
    for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
    return result + (text.size() > longest ? "...'" : "'");
}

std::string plural(std::string_view noun) {
    const auto all_but = [&](std::size_t letters) { return std::string(noun.substr(0, noun.size() - letters)); };
    if (noun.ends_with("matrix") || noun.ends_with("vertex") || noun.ends_with("index")) return all_but(2) + "ices";
    return noun.ends_with("try") || noun.ends_with("ary") ? all_but(1) + "ies" : std::string(noun) + 's';
}

std::string counted_with_commas(std::int64_t number, std::string_view noun) {
    return with_commas(number) + ' ' + (number == 1 ? std::string(noun) : plural(noun));
}

std::string names_in_quotes(std::span<const std::string> names) {
    constexpr std::size_t most_names = 20;
    constexpr std::size_t longest = 200;
    std::string list;
    for (const std::string& name : names.first(std::min(names.size(), most_names))) {
        list += (list.empty() ? "" : ", ") + in_quotes(name, longest);
    }
    if (names.size() > most_names) list += fmt::format(" and {} more", names.size() - most_names);
    return list;
}

std::optional<std::int64_t> parse_integer(std::string_view word) {
    std::int64_t number = 0;
    if (parse_whole(word, number) != std::errc{}) return std::nullopt;
    return number;
}

std::optional<double> parse_real(std::string_view word) {
    double number = 0;
    const std::errc error = parse_whole(word, number);
    if (error == std::errc{}) return number;
    if (error != std::errc::result_out_of_range) return std::nullopt;
    // A wider type distinguishes underflow from overflow.
    long double wide = 0;
    if (parse_whole(word, wide) != std::errc{} || std::abs(wide) > 1) return std::nullopt;
    return static_cast<double>(wide);
}

bool is_exact_integer(std::string_view word, double number) {
    const auto digits = std::min(word.find_first_of("123456789"), word.size());  // after the sign and zeros
    return (digits == word.size() ? "0" : word.substr(digits)) == fmt::format("{:.0f}", std::abs(number));
}

std::string why_not_real(std::string_view word) {
    double number = 0;
    if (parse_whole(word, number) == std::errc::result_out_of_range) {
        return fmt::format("found {}, which is beyond the range of f64; expected a smaller number", in_quotes(word));
    }
    std::string e_exponent(word);
    const auto d = e_exponent.find_first_of("dD");
    if (d != std::string::npos) {
        e_exponent[d] = 'e';
        if (parse_real(e_exponent)) {
            return fmt::format("found {}, a number with a Fortran exponent; expected an exponent with 'e'", in_quotes(word));
        }
    }
    if (word.find(',') != std::string_view::npos) {
        return fmt::format("found {}, with a comma; expected a number with a decimal point", in_quotes(word));
    }
    return fmt::format("found {}; expected a number", in_quotes(word));
}

std::string initials_of(const std::string& key) {
    std::string initials;
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (i == 0 || key[i - 1] == '_' || key[i - 1] == '.') initials += key[i];
    }
    return initials;
}

}  // namespace workbench
