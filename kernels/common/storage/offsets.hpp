// Offsets into an array: what makes them sound.
#pragma once

#include <algorithm>
#include <span>

#include "pipeline/matrix/host_array.hpp"

namespace workbench {

/// Do the offsets walk through `length` elements from the beginning to the end, without a step back?
template <typename Integer>
[[nodiscard]] bool tiles(const HostArray<Integer>& offsets, std::size_t length) {
    return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
           static_cast<std::size_t>(offsets.back()) == length;
}

/// The piece between two offsets that holds this element, which one of them does.
[[nodiscard]] inline Index piece_with(std::span<const Offset> offsets, Offset element) {
    return static_cast<Index>(std::upper_bound(offsets.begin(), offsets.end(), element) - offsets.begin()) - 1;
}

}  // namespace workbench
