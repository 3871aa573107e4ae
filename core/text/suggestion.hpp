// "Did you mean ...?" for unknown words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// "; did you mean 'metis_partition'?" with the candidate of the smallest edit distance, or one that begins with the word.
/// Empty if no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'b'? Expected one of a, b, c", or "; expected one of a, b, c" if no candidate is close.
[[nodiscard]] std::string expected_one_of(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string>& words);

}  // namespace workbench
