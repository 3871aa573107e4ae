// Binary searches for host and GPU. They are written by hand, because nvcc 13.0 drops the call of std::advance in libstdc++
// 12's std::lower_bound and std::upper_bound from device code.
#pragma once

#include "core/matrix/types.hpp"

namespace workbench {

/// The number of leading positions, of `count`, for which is_before(position) is true.
constexpr Index count_before(Index count, const auto& is_before) {
    Index before = 0;
    while (count > 0) {
        const Index half = count / 2;
        if (is_before(before + half)) {
            before += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return before;
}

/// The number of items below a value. items: [count] ascending.
template <typename Item>
constexpr Index count_below(const Item* items, Index count, Item value) {
    return count_before(count, [=](Index position) { return items[position] < value; });
}

/// The piece that contains a position: the last one that begins at or before it, as in Cuts::piece_at. boundaries: [pieces +
/// 1].
constexpr Index piece_at(const Index* boundaries, Index pieces, Index position) {
    return count_below(boundaries, pieces + 1, position + 1) - 1;
}

}  // namespace workbench
