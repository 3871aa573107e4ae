// Groups the cells of an array, in memory order, into lines for a reader, and abbreviates long runs of padding.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "viz/storage_map.hpp"

namespace workbench {

/// The property that adjacent cells share.
enum class Along {
    nothing,
    blocks,   // one element of an array of columns for all of them
    rows,     // their row, whose nonzeros are contiguous
    columns,  // their column, whose nonzeros are contiguous and which no array stores
    lanes,    // adjacent lanes read them in one step
};

/// The meaning of a bar between cells: "the next row", ...
[[nodiscard]] std::string_view bar_of(Along along);

/// A line is a block, row, column or step; a group is a slice or warp.
enum class Begins { nothing, line, group };

/// One place of a drawing: a cell, or a run of consecutive cells that are drawn as one.
struct DrawnPlace {
    Offset cell = 0;
    Offset cells = 1;
    Begins begins = Begins::nothing;
};

struct MemoryOrder {
    Along along = Along::nothing;
    std::vector<DrawnPlace> places;
};

/// The order of an array of values or columns in a map by cell. Runs of more than three cells of padding become one place.
[[nodiscard]] MemoryOrder memory_order_of(const StorageArray& array);

/// The order of a structure, without lines. Runs of more than seven equal elements become one place.
[[nodiscard]] std::vector<DrawnPlace> plain_places_of(const StorageArray& array);

/// Groups the arrays of a part, by number, that are drawn below each other: values with their parallel columns, any other array
/// alone.
[[nodiscard]] std::vector<std::vector<int>> tracks_of(const StoragePart& part);

/// Joins the bins of an array until there are at most `most`. Returns them and the elements in each; most >= 1.
[[nodiscard]] std::pair<std::vector<StorageBin>, Offset> joined_bins(const StorageArray& array, std::size_t most);

}  // namespace workbench
