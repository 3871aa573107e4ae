// Words and numbers of a line of text.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/text/characters.hpp"

namespace workbench {

/// An error in a line: what was found and what was expected. The caller adds the file and the line number.
struct LineError {
    std::string what;
};

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Removes the next word from the front of a line and returns it; words are separated by blanks, tabs and carriage returns.
/// Empty at the end of the line.
[[nodiscard]] std::string_view next_word(std::string_view& line);

/// Removes the next word and returns it as an integer. Throws LineError unless it is one from `least` to `most`; `what` names
/// it, as in "row".
std::int64_t take_integer(std::string_view& line, std::string_view what, std::int64_t least, std::int64_t most);

/// Throws LineError if the line contains another word. `expected` describes what the line should have contained.
void expect_end_of_line(std::string_view line, std::string_view expected);

/// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view word);

/// Input quoted in an error message: cut to a readable length, unprintable bytes replaced by '?'.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t longest = 40);

/// "rows", "matrices", "entries": the noun as it follows a number other than 1.
[[nodiscard]] std::string plural(std::string_view noun);

/// "1 row", "1234 rows", "2 matrices": a number with its noun, which is given in the singular.
[[nodiscard]] std::string counted(std::integral auto number, std::string_view noun) {
    return std::to_string(number) + ' ' + (number == 1 ? std::string(noun) : plural(noun));
}

/// Likewise with commas, for reports: "1,234 rows".
[[nodiscard]] std::string counted_with_commas(std::int64_t number, std::string_view noun);

/// "'a', 'b' and 3 more" for an error message: the first 20 names.
[[nodiscard]] std::string names_in_quotes(std::span<const std::string> names);

/// The whole word as an integer with an optional sign. None if it is not an integer or exceeds 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view word);

/// The whole word as the nearest f64; `inf` and `nan` are accepted, and numbers too small for f64 are rounded to it. None if it
/// is not a number or exceeds the range of f64.
[[nodiscard]] std::optional<double> parse_real(std::string_view word);

/// True if the number is the integer that the word is: an optional sign and any number of digits.
[[nodiscard]] bool is_exact_integer(std::string_view word, double number);

/// Explains why parse_real refuses a word: what was found and what was expected.
[[nodiscard]] std::string why_not_real(std::string_view word);

/// "sh" of "slice_height", "ps" of "parts.size".
[[nodiscard]] std::string initials_of(const std::string& key);

}  // namespace workbench
