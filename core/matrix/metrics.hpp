// Metrics of a matrix in its current order, which reordering is meant to improve.
#pragma once

#include <optional>
#include <vector>

#include "core/matrix/locality.hpp"
#include "core/matrix/staged_matrix.hpp"

namespace workbench {

struct RowLengths {
    Index minimum = 0;
    double mean = 0;
    Index maximum = 0;
    double standard_deviation = 0;  // of the population of all rows
    double skew = 0;  // mean of ((length - mean) / standard deviation)^3; positive: few long rows; 0 if all are equal
};

/// The quality of a graph partition (cuts of kind `partition`).
struct PartitionMetrics {
    Index count = 0;
    Offset nonzeros_inside = 0;    // row and column in the same partition
    Offset edge_cut = 0;           // unordered pairs {i, j} across partitions with a_ij or a_ji stored
    double row_imbalance = 1;      // rows of the largest partition over the mean
    double nonzero_imbalance = 1;  // the same for the nonzeros of its rows
};

/// The load balance of tiles or segments whose stored rows are processed by warps of 32 rows, one lane per row.
struct TileMetrics {
    Index count = 0;             // tiles with nonzeros
    Offset rows_present = 0;     // in all tiles
    Offset warp_iterations = 0;  // PELLR eq. 1 within each tile
    double idle_lanes = 0;       // fraction of the lanes' iterations without a nonzero
};

struct Metrics {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    Index bandwidth = 0;        // max |i - j| over the nonzeros
    double mean_bandwidth = 0;  // mean |i - j| over the nonzeros
    Offset profile = 0;         // sum of i - min(i, first column) over the rows: the envelope below the diagonal
    RowLengths row_lengths;
    Offset sell32_slots = 0;            // slots of sliced ELL with slice height 32 in the current row order
    double sell32_padding = 0;          // fraction of these slots that is padding
    Offset warp_iterations = 0;         // PELLR eq. 1 with warps of 32 threads
    Offset sorted_warp_iterations = 0;  // the same if the rows were sorted by length
    Offset warp_work = 0;               // PELLR eq. 2
    std::optional<PartitionMetrics> partition;
    std::optional<TileMetrics> tiles;
    Locality locality;
};

/// PELLR eq. 1: the length of the longest row of a warp with one thread per row, summed over the warps.
[[nodiscard]] Offset warp_iterations(std::span<const Offset> row_offsets, Index warp_size = 32);

/// PELLR eq. 1 after sorting the rows by length: the minimum over all row orders.
[[nodiscard]] Offset sorted_warp_iterations(std::span<const Offset> row_offsets, Index warp_size = 32);

/// PELLR eq. 2: the sum over the rows of 2 length - 1, the multiplications and additions of a row. Rows without nonzeros count
/// 0 here, where the formula gives -1.
[[nodiscard]] Offset warp_work(std::span<const Offset> row_offsets);

[[nodiscard]] Metrics measure(const StagedMatrix& staged);

}  // namespace workbench
