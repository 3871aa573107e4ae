// Faults planted in the arrays of a layout, to see that check_layout notices each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"

namespace workbench {

/// Changes the elements of the layout's arrays, one at a time, and restores them. Calls `begin` with each change,
/// "row_offsets [3] + 1", before it is checked. Returns those that check_layout does not notice. Padding may read any column
/// that exists.
template <ValueType Value>
[[nodiscard]] std::vector<std::string> unnoticed_faults(const Layout<Value>& layout, const CsrMatrix& matrix,
                                                        const std::function<void(const std::string&)>& begin = {});

}  // namespace workbench
