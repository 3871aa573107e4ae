// "Did you mean ...?" for unknown words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// "; did you mean 'metis_partition'?" with the nearest candidate: few letters added, dropped, replaced or swapped, or the word
/// is its beginning. Empty where none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'b'? Expected one of a, b, c", or "; expected one of a, b, c" where no candidate is near.
[[nodiscard]] std::string expected_one_of(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string>& words);

}  // namespace workbench
