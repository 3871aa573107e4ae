// Sizes that an input claims, checked before they are believed.
#pragma once

#include <optional>
#include <string>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Why a matrix of this size cannot be: what was found and what was expected. None where it can.
/// Rows and columns are below 2^31; where there are more than 2^24 of them, an entry must stand for every 64 of them, so that
/// the arrays over rows and columns stay in proportion to the input, whatever sizes it claims.
[[nodiscard]] std::optional<std::string> reason_to_refuse_size(std::int64_t rows, std::int64_t columns, Offset entries);

/// The same before the entries are known: rows and columns are below 2^31.
[[nodiscard]] std::optional<std::string> reason_to_refuse_size(std::int64_t rows, std::int64_t columns);

}  // namespace workbench
