// Faults planted in the arrays of a layout, to see that check_layout notices each.
#pragma once

#include <string>
#include <vector>

#include "core/contract/layout.hpp"

namespace workbench {

/// Changes the elements of the layout's arrays, one at a time, and restores them. Returns the changes that check_layout does
/// not notice: "row_offsets [3] + 1". Padding may read any column that exists.
template <ValueType Value>
[[nodiscard]] std::vector<std::string> unnoticed_faults(const Layout<Value>& layout, const CsrMatrix& matrix);

}  // namespace workbench
