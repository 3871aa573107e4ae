// Lanes: neighbouring threads of a warp that share a row, 1 to 32 of them, a power of two. Lane l takes the entries l,
// l + lanes, ... of its row.
#pragma once

#include <type_traits>
#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The fewest lanes, `least` or more, that take at most two entries each of a row of mean length; a whole warp where none do.
[[nodiscard]] constexpr int lanes_for(Index rows, Offset nonzeros, int least = 1) {
    int lanes = least;
    while (lanes < 32 && Offset{2} * lanes * rows < nonzeros) lanes *= 2;
    return lanes;
}

/// Calls use(std::integral_constant<int, lanes>), so that what is compiled for a number of lanes can be picked when it runs.
/// `lanes` is one of least, 2 * least, ... 32.
template <int least, typename Use>
auto with_lanes(int lanes, const Use& use) {
    if constexpr (least < 32) {
        if (lanes != least) return with_lanes<2 * least>(lanes, use);
    }
    return use(std::integral_constant<int, least>{});
}

/// Calls visit(slot) for the entries of compressed rows in the order of memory, as `lanes` threads a row read them. `slot`
/// names the arrays. Everything but the column is filled in, for values and columns that lie as the nonzeros of the matrix do.
template <typename Visit>
void walk_rows(Index rows, const std::vector<Offset>& row_offsets, int lanes, Slot slot, const Visit& visit) {
    for (Index row = 0; row < rows; ++row) {
        const Offset first = row_offsets[row];
        for (Offset k = 0; k < row_offsets[row + 1] - first; ++k) {
            const Offset thread = Offset{row} * lanes + k % lanes;
            slot.row = row;
            slot.index = slot.column_index = slot.nonzero = first + k;
            slot.warp = thread / 32;
            slot.lane = static_cast<int>(thread % 32);
            slot.step = k / lanes;
            visit(slot);
        }
    }
}

}  // namespace workbench
