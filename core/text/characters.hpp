// Characters of UTF-8, and text that cannot control a terminal when it is printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Length in bytes of the UTF-8 sequence at the start of the text; 0 if it is invalid: overlong, a surrogate, or above
/// U+10FFFF.
[[nodiscard]] std::size_t sequence_length(std::string_view text);

/// True for control characters of ASCII.
[[nodiscard]] bool is_control_character(char letter);
/// True if the text begins with one of U+0080 to U+009F, which control some terminals.
[[nodiscard]] bool is_wide_control(std::string_view text);

/// Splits UTF-8 into characters. Invalid bytes and control characters other than tab and newline become "?".
[[nodiscard]] std::vector<std::string> characters(std::string_view text);

/// The text without what could control a terminal: its `characters`, joined.
[[nodiscard]] std::string printable(std::string_view text);

/// At most `longest` characters in one line, followed by "..." if there are more; tabs and newlines also become "?".
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest);

}  // namespace workbench
