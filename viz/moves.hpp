// Nonzeros on their way from where one stage has them to where the next one does.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"
#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// So many nonzeros move; of more, a sample does: always the same ones, chosen by a hash of where the input has them.
inline constexpr Offset most_moving = 200'000;

/// Where the nonzeros that move lie in the picture of a stage, in the order in which the input has them: the same index is the
/// same nonzero in all stages of a recipe.
struct MovingEntries {
    struct Place {
        Index row = 0;
        Index column = 0;
        int plane = 0;

        friend bool operator==(const Place&, const Place&) = default;
    };
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;        // of the matrix
    std::vector<Place> places;  // all of them, or the sample

    /// Does any nonzero lie elsewhere than here?
    [[nodiscard]] bool moves_to(const MovingEntries& other) const;
};

[[nodiscard]] MovingEntries moving_entries(const StagedMatrix& staged, Offset most = most_moving);

/// The pattern while its nonzeros have gone `step` of `steps` equal steps of the way, as a raster of the same bins as `like`:
/// of a matrix that is shown entry by entry, in ten bins a row and column. A sample's nonzeros count for as many as they stand
/// for.
[[nodiscard]] PatternRaster raster_between(const MovingEntries& from, const MovingEntries& to, int step, int steps,
                                           const PatternRaster& like);

}  // namespace workbench
