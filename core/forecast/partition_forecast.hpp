// How good partitions are: estimated by balls of rows before they are made, or measured in samples.
#pragma once

#include "core/forecast/forecast.hpp"

namespace workbench {

/// 0 of nothing.
[[nodiscard]] inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// The quality of balls of some size, which replace the parts of a partition in a forecast.
struct BallsForecast {
    double outside = 0;  // fraction of the nonzeros whose column is not in the ball
    double halo = 0;     // columns outside per row
};

/// Breadth-first balls of this many rows around four rows of a square matrix.
[[nodiscard]] BallsForecast grow_balls(const CsrMatrix& matrix, Index size);

[[nodiscard]] PartitionForecast measured_partition(const StagedMatrix& staged, const Cuts& cuts);

}  // namespace workbench
