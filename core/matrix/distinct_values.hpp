// The distinct values of an array, which decide how it can be coded. In parallel, and found out early if there are too many.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// The distinct values, compared by their bits, in ascending order of these; none if there are more than `most`.
template <typename Value>
[[nodiscard]] std::optional<std::vector<Value>> distinct_values(std::span<const Value> values, Offset most);

/// Those of the values in f32.
[[nodiscard]] std::optional<std::vector<float>> distinct_values_in_f32(std::span<const double> values, Offset most);

[[nodiscard]] bool is_exact_in_f32(double value);

/// True if f32 represents each value exactly. Ends soon after the first one that it does not.
[[nodiscard]] bool are_exact_in_f32(std::span<const double> values);

}  // namespace workbench
