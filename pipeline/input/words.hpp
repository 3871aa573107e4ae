// Words of a text, and the numbers in them, which are the whole word or refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace workbench {

/// Takes the next word off the front of a line: blanks, tabs and carriage returns separate. Empty at the end of the line.
[[nodiscard]] std::string_view next_word(std::string_view& line);

/// With 'a' to 'z' for 'A' to 'Z'.
[[nodiscard]] std::string lower_case(std::string_view word);

/// A piece of input for an error message: in quotes, cut to a readable length, with '?' for what cannot be printed.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t longest = 40);

/// The integer that the whole word is, with or without a sign; none where it is not one or exceeds 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view word);

/// The f64 nearest to the decimal number that the whole word is; `inf` and `nan` are numbers. None where it is not a number, or
/// one beyond the range of f64; numbers too small for f64 are rounded as any other.
[[nodiscard]] std::optional<double> parse_real(std::string_view word);

/// For a word that parse_real refuses: what was found and what was expected.
[[nodiscard]] std::string why_not_real(std::string_view word);

}  // namespace workbench
