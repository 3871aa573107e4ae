// The rules of stage split, which divide nonzeros by tables: of rows, columns, diagonals, places in rows, or single nonzeros.
#pragma once

#include <array>

#include "core/contract/device_plan.hpp"

namespace workbench {

/// The rule of a criterion, for the host and for devices, without its shares.
[[nodiscard]] SplitNonzeros split_rule(const Parameters& parameters);

/// The height and width of the blocks of by = "blocks".
[[nodiscard]] std::array<Index, 2> shape_of_blocks(const Parameters& parameters);

/// The number of nonzeros of each row that by = "first_k" puts first.
[[nodiscard]] std::int64_t first_count(const ShareView& view, const Parameters& parameters);

}  // namespace workbench
