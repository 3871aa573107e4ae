// The plan of a recipe that a device carries out in its own memory (planned_matrix.hpp), from the matrix to the kernel: the
// host only launches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

struct DeviceProperties;  // device.hpp
struct StageContext;      // stage.hpp

// ---- The steps that stages declare (StageEntry::on_device). All orders are of rows and columns alike.

/// From this step on, orders move whole nodes: groups of `rows` consecutive rows.
struct KeepNodes {
    Index rows = 0;  // of a node; 0: as in the plan so far, else found by nodes_of_fewest_bytes (node_size.hpp)
};

/// Numbers the vertices by levels, as the stage cuthill_mckee.
struct OrderByLevels {
    bool reversed = true;
};

/// Sorts the vertices by the number of their neighbours, stably.
struct SortByDegree {
    bool descending = true;
};

/// An order that does not depend on the entries of the matrix, such as one from a file.
struct GivenOrder {
    std::vector<Index> old_of_new;  // [rows] nodes stay together
    std::vector<Index> partition;   // the boundaries of its parts; empty: there are none
};

/// Takes an order from the host.
struct TakeOrder {
    std::function<GivenOrder(Index rows, Index node_size)> make;  // throws what the stage throws
    bool has_parts = false;                                       // are there boundaries of parts?
};

/// Numbers the rows by levels in reverse, and cuts them into parts of equally many rows.
struct CutLevels {
    Parameters parameters;  // for plan_parts (partition_plan.hpp)
    std::string stage;      // that they belong to
};

/// Sorts nodes by their longest row, stably.
struct SortRows {
    std::optional<Index> window;    // rows of a window, within which they are sorted; none: all rows
    bool inside_partition = false;  // instead within their part, by the nonzeros inside it
    bool descending = true;
};

/// Divides the nonzeros into those inside the parts and those outside.
struct SplitByPartition {};

/// Sorts the rows of the share outside by its nonzeros, stably.
struct SortOutside {
    bool descending = true;
};

/// Cuts the rows into blocks, for tiles.
struct CutRows {
    std::function<std::vector<Index>(Index rows)> boundaries;
};

/// Cuts the columns into segments, and divides the nonzeros by tiles.
struct CutColumns {
    std::function<std::vector<Index>(Index columns, const StageContext&)> boundaries;  // throws what the stage throws
};

/// Places the rows of each tile by the number of their nonzeros in it.
struct PlaceInTiles {
    std::optional<Index> window;  // rows of a window, within which they are sorted; none: all rows of the tile
    bool descending = true;
    Index sample = 0;  // they are hashed, ascending: the rows of a tile to which the hash is fitted; 0: sorted, stably
};

using DeviceStep = std::variant<KeepNodes, OrderByLevels, SortByDegree, TakeOrder, CutLevels, SortRows, SplitByPartition,
                                SortOutside, CutRows, CutColumns, PlaceInTiles>;

// ---- The storage that layouts declare (LayoutEntry::on_device). Values are stored in full unless it says otherwise.

/// How values are stored: as the parameter `values` of a layout says. automatic: `auto`, without values of rows and columns.
enum class DeviceValues { full, one, dictionary, f32, automatic };

/// All rows, one after another without padding.
struct WholeRows {
    bool short_columns = false;  // of 16 bits, counted from the first of their row; otherwise of 32
    DeviceValues values = DeviceValues::full;
};

/// All rows, each padded to the longest.
struct PaddedRows {
    bool row_major = false;        // the slots of a row are neighbours; otherwise the k-th slots of all rows are
    bool with_lengths = false;     // the lengths of the rows are stored beside them
    double slots_per_nonzero = 0;  // the most
    DeviceValues values = DeviceValues::full;
};

/// Slices of all rows.
struct RowSlices {
    Index slice_height = 0;      // 0: as many rows as a warp has
    Index threads_per_row = 0;   // 0: chosen by the slice height and the mean length of a row
    Index split_length = 0;      // the kernel for longer rows is prepared on the host only
    bool short_columns = false;  // of 16 bits, otherwise of 32
    DeviceValues values = DeviceValues::full;
};

/// Slices of all rows of square blocks, with columns of 16 bits, and a row of blocks for each lane of a warp.
struct BlockSlices {
    Index block_size = 0;          // rows; 0: those of a node
    Index threads_per_row = 0;     // 0: chosen
    double slots_per_nonzero = 0;  // the most, before blocks are padded to slices
};

/// Slices of the rows inside each part, with columns of 16 bits, and of the rows outside; for the fused kernel.
struct PartSlices {};

/// Batches of the rows of each tile, stored step by step (hbp).
struct TileBatches {
    Index row_limit = 0;    // nonzeros of a stored row
    Index chunk_limit = 0;  // nonzeros of a chunk of several batches
    double fixed_share = 0;
    std::optional<bool> short_columns;  // of 16 bits, counted from the least of their chunk; none: if 16 bits suffice
};

using DeviceStorage = std::variant<WholeRows, PaddedRows, RowSlices, BlockSlices, PartSlices, TileBatches>;

/// A recipe for a device.
struct DevicePlan {
    Index node_size = 1;                                    // before the first step
    const DeviceProperties* model = nullptr;                // that the recipe names; null: the device that carries out the plan
    std::vector<std::pair<std::string, DeviceStep>> steps;  // with the ids of their stages
    DeviceStorage storage;
    std::string kernel;  // that reads the storage

    /// The reason why no device carries out the plan, whatever the matrix; empty: one may.
    [[nodiscard]] std::string refusal() const;
};

}  // namespace workbench
