// Nonzeros that move from their places in one stage to those in the next.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// The most nonzeros that move. In a larger matrix, a hash of their places in the input chooses a sample.
inline constexpr Offset most_moving = 200'000;

/// The places of the moving nonzeros in the picture of a stage, in the order of the input, so that an index is the same nonzero
/// in all stages of a recipe.
struct MovingEntries {
    struct MatrixPlace {
        Index row = 0;
        Index column = 0;
        int plane = 0;

        friend bool operator==(const MatrixPlace&, const MatrixPlace&) = default;
    };
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;              // of the matrix
    std::vector<MatrixPlace> places;  // all of them, or the sample

    /// True if any nonzero has another place in `other`.
    [[nodiscard]] bool moves_to(const MovingEntries& other) const;
};

[[nodiscard]] MovingEntries moving_entries(const StagedMatrix& staged, Offset most = most_moving);

/// The pattern after `step` of `steps` equal steps, as a raster with the bins of `like`, or with ten bins a row and column if
/// `like` shows single entries. Each nonzero of a sample counts as nonzeros / sample size.
[[nodiscard]] PatternRaster raster_between(const MovingEntries& from, const MovingEntries& to, int step, int steps,
                                           const PatternRaster& like);

}  // namespace workbench
