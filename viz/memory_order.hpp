// Cells of an array in the order of memory, put into lines for a reader: where pieces begin, and where padding is too long to
// be shown place by place.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "viz/storage_map.hpp"

namespace workbench {

/// What neighbours in memory have in common.
enum class Along {
    nothing,
    blocks,   // one element of an array of columns tells the columns of them all
    rows,     // their row, whose nonzeros lie nowhere else
    columns,  // their column, likewise, where no array tells it
    lanes,    // neighbouring lanes read them in one step
};

/// "the next row", ...: what a bar between cells stands for.
[[nodiscard]] std::string_view bar_of(Along along);

/// What begins with a cell.
enum class Begins { nothing, line, group };  // a line: the next block, row, column or step; a group: the next slice or warp

/// One place of a drawing: a cell, or the first of several cells of padding in a row.
struct DrawnPlace {
    Offset cell = 0;
    Offset cells = 1;
    Begins begins = Begins::nothing;
};

struct MemoryOrder {
    Along along = Along::nothing;
    std::vector<DrawnPlace> places;
};

/// Of an array of values, or of columns that stand for several. Runs of more than three places of padding become one. The map
/// is by cell.
[[nodiscard]] MemoryOrder memory_order_of(const StorageArray& array);

/// Every cell is a place of its own, and nothing begins: of a structure. Runs of more than seven equal elements become one.
[[nodiscard]] std::vector<DrawnPlace> plain_places_of(const StorageArray& array);

/// An array of values with those of columns beside it, place by place; or any other array alone. By their numbers in the part,
/// in its order.
[[nodiscard]] std::vector<std::vector<int>> tracks_of(const StoragePart& part);

/// The bins of an array, so many in one that there are at most `most` of them, and the places in each; most >= 1.
[[nodiscard]] std::pair<std::vector<StorageBin>, Offset> joined_bins(const StorageArray& array, std::size_t most);

}  // namespace workbench
