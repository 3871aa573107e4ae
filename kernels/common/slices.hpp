// Sliced ELL, the storage that several layouts share: rows in slices of equal height, each slice padded to its longest row
// and stored column by column, so that the lanes of a warp read neighbouring slots.
#pragma once

#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/parts.hpp"

namespace workbench {

/// Stored rows in slices. Slices start afresh at every group (a partition, say): the last slice of a group may have lanes without
/// a row. Slot of the k-th entry of lane l of slice s: slice_offsets[s] + k * slice_height + l. Padding has value 0 and column 0 of
/// the column's base.
template <ValueType Value, typename ColumnIndex>
struct Slices {
    Index slice_height = 32;
    std::vector<Index> group_slices{0};     // [groups + 1] first slice of each group
    std::vector<Offset> slice_offsets{0};   // [slices + 1] first slot of each slice; multiples of slice_height
    std::vector<ColumnIndex> columns;       // [slots]
    std::vector<Value> values;              // [slots]

    [[nodiscard]] Index slice_count() const { return static_cast<Index>(slice_offsets.size()) - 1; }
    [[nodiscard]] Index width(Index slice) const {
        return static_cast<Index>((slice_offsets[slice + 1] - slice_offsets[slice]) / slice_height);
    }
};

}  // namespace workbench
