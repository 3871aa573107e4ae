// Row lengths that a recipe gives as a number or relative to the lengths of all rows, and lists of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// A number, a multiple of the mean length ("2*mean"), or of the length that a percentage of the rows do not exceed ("p95").
struct RelativeLength {
    enum class Of { number, mean, percentile };
    Of of = Of::number;
    double factor = 1;   // of the mean or the percentile; otherwise the number
    double percent = 0;  // from 0 to 100
};

/// Reads "16", "mean", "0.5*mean", "p95" or "2*p50"; none if the text is malformed, or the number does not fit
/// into an Index.
[[nodiscard]] std::optional<RelativeLength> read_relative_length(std::string_view text);

/// The items of a list such as "4, 16, 64", without blanks.
[[nodiscard]] std::vector<std::string> items_of_list(std::string_view text);

}  // namespace workbench
