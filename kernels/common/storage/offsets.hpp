// Offsets into an array: what makes them sound.
#pragma once

#include <algorithm>
#include <vector>

namespace workbench {

/// Do the offsets walk through `length` elements from the beginning to the end, without a step back?
template <typename Integer>
[[nodiscard]] bool tiles(const std::vector<Integer>& offsets, std::size_t length) {
    return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
           static_cast<std::size_t>(offsets.back()) == length;
}

}  // namespace workbench
