// The rules of stage split that divide nonzeros by a table: by rows, columns, diagonals, places in rows, or partitions.
#pragma once

#include <optional>

#include "core/contract/device_plan.hpp"

namespace workbench {

/// The rule of a criterion, for the host and for devices, without its shares. Nothing for blocks and values, which depend on
/// single entries.
[[nodiscard]] std::optional<SplitNonzeros> split_rule(const Parameters& parameters);

/// The number of nonzeros of each row that by = "first_k" puts first.
[[nodiscard]] std::int64_t first_count(const ShareView& view, const Parameters& parameters);

}  // namespace workbench
