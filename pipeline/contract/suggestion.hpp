// "Did you mean ...?" for words that nobody knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// "; did you mean 'metis_partition'?" with the candidate that the word was most likely meant to be: few letters added,
/// dropped, replaced or swapped, or the beginning of it. Empty where no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'b'? Expected one of a, b, c", or "; expected one of a, b, c" where no candidate is near.
[[nodiscard]] std::string expected_one_of(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string>& words);

}  // namespace workbench
