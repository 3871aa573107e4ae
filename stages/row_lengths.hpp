// Row lengths of a view, and thresholds relative to them.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/contract/parameters.hpp"
#include "core/matrix/shares.hpp"
#include "core/text/relative_length.hpp"

namespace workbench {

/// The value of a parameter of type `length`, which must not be one of its words.
[[nodiscard]] RelativeLength relative_length(const Parameters& parameters, std::string_view name);

/// The length itself for the rows of a view. The percentile p is the smallest length that at least p % of the rows do not
/// exceed; a view without rows has the mean and percentiles 0.
[[nodiscard]] double length_among(const RelativeLength& length, const ShareView& view);

/// The same, rounded down: rows are longer than the threshold if they are longer than this.
[[nodiscard]] std::int64_t threshold_among(const RelativeLength& length, const ShareView& view);

/// The same, rounded up and at least 1, for numbers of nonzeros.
[[nodiscard]] std::int64_t count_among(const RelativeLength& length, const ShareView& view);

}  // namespace workbench
