// The bounds, partitions and values by which stage split divides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "core/matrix/shares.hpp"
#include "core/text/relative_length.hpp"

namespace workbench {

/// The parameter `bounds`.
[[nodiscard]] std::vector<RelativeLength> split_bounds(const Parameters& parameters);

/// Throws ParameterError if there are too many bounds, if numbers among them do not ascend, or if bounds of rows or columns are
/// relative to a mean.
void check_bounds(const Parameters& parameters);

/// The bounds as row lengths, or as rows or columns, of which a percentile is a percentage. Throws Unsuitable unless they
/// ascend.
[[nodiscard]] std::vector<std::int64_t> bounds_among(const Parameters& parameters, const SplitFacts& facts);

/// The parameter `fill`. Default: 0.7.
[[nodiscard]] double fill_of_split(const Parameters& parameters);

/// "4, 16, 64"
[[nodiscard]] std::string text_of_bounds(std::span<const std::int64_t> bounds);

/// [partitions] Is a partition in the parameter `partitions`? Throws Unsuitable for one that does not exist.
[[nodiscard]] std::vector<bool> chosen_partitions(const Parameters& parameters, Index count);

/// The value that most entries of the view have, the smallest of several; 0 without entries. NaN does not count. `all` are the
/// values of the matrix.
[[nodiscard]] double commonest_value(const ShareView& view, std::span<const double> all);

}  // namespace workbench
