// What can be counted of a matrix in its current order: the figures that reordering is meant to change.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/matrix/locality.hpp"
#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

struct RowLengths {
    Index minimum = 0;
    double mean = 0;
    Index maximum = 0;
    double standard_deviation = 0;  // over all rows, dividing by their number
    double skew = 0;  // mean of ((length - mean) / standard deviation)^3; above 0: few long rows; 0 where all are alike
};

/// What a graph partition achieves, where there are cuts of kind `partition`.
struct PartitionMetrics {
    Index count = 0;
    Offset nonzeros_inside = 0;    // row and column in the same partition
    Offset edge_cut = 0;           // unordered pairs {i, j} across partitions with a_ij or a_ji stored
    double row_imbalance = 1;      // largest partition over the mean, in rows
    double nonzero_imbalance = 1;  // the same, in nonzeros of its rows
};

/// What the order of the rows in tiles (or segments) achieves for a warp that takes 32 of them at a time, a lane a row.
struct TileMetrics {
    Index count = 0;             // tiles with nonzeros
    Offset rows_present = 0;     // in all tiles
    Offset warp_iterations = 0;  // as below, within each tile
    double idle_lanes = 0;       // share of the lanes' iterations without a nonzero, 0 .. 1
};

struct Metrics {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    Index bandwidth = 0;        // max |i - j| over the nonzeros
    double mean_bandwidth = 0;  // mean |i - j| over the nonzeros
    Offset profile = 0;         // sum over rows of i - min(i, first column): the envelope below the diagonal
    RowLengths row_lengths;
    Offset sell32_slots = 0;            // slots of sliced ELL with slice height 32 in the current row order
    double sell32_padding = 0;          // share of those slots that hold no nonzero, 0 .. 1
    Offset warp_iterations = 0;         // PELLR eq. 1 with warps of 32 threads
    Offset sorted_warp_iterations = 0;  // the same if all rows were sorted by length
    Offset warp_work = 0;               // PELLR eq. 2
    std::optional<PartitionMetrics> partition;
    std::optional<TileMetrics> tiles;
    Locality locality;
};

/// PELLR eq. 1: the sum over warps of their longest row, a thread a row. Rows that the last warp lacks count 0.
[[nodiscard]] Offset warp_iterations(std::span<const Offset> row_offsets, Index warp_size = 32);

/// PELLR eq. 1 after sorting all rows by descending length, whatever order they are in: the least that any order reaches.
[[nodiscard]] Offset sorted_warp_iterations(std::span<const Offset> row_offsets, Index warp_size = 32);

/// PELLR eq. 2: the sum over rows of 2 length - 1, the multiplications and additions of a row. The formula would count -1 for
/// a row without nonzeros, and for rows that the last warp lacks; both count 0 here.
[[nodiscard]] Offset warp_work(std::span<const Offset> row_offsets);

[[nodiscard]] Metrics measure(const StagedMatrix& staged);

}  // namespace workbench
