// Checks of offsets into an array, and lookups.
#pragma once

#include <algorithm>
#include <span>

#include "core/matrix/host_array.hpp"

namespace workbench {

/// True if the offsets ascend from 0 to `length`.
[[nodiscard]] bool tiles(const auto& offsets, std::size_t length) {
    return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
           static_cast<std::size_t>(offsets.back()) == length;
}

/// The number of the piece between two offsets that holds this element.
[[nodiscard]] inline Index piece_with(std::span<const Offset> offsets, Offset element) {
    return static_cast<Index>(std::upper_bound(offsets.begin(), offsets.end(), element) - offsets.begin()) - 1;
}

}  // namespace workbench
