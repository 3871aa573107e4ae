// How densely filled a bin is, as a shade: one scale for all pictures of a recipe, so that they can be compared.
#pragma once

#include <span>

#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// Shades rise with the logarithm of the density, from one nonzero in a bin, which still shows on white, to the ceiling, above
/// which all is darkest, so that a few dense blocks do not wash out the rest. A low ceiling uses only the middle of the ramp:
/// between one nonzero and two there should be no glaring contrast.
///
/// Density is measured in nonzeros a bin of average size: bins may differ by a row or a column, and a count alone would draw
/// that difference as a grid over the matrix.
struct DensityScale {
    double ceiling = 1;  // nonzeros in a bin of average size; >= 1

    static constexpr int lightest = 0;
    static constexpr int middle = 96;
    static constexpr int darkest = 255;

    /// lightest .. darkest for a density above 0; `middle` everywhere where the ceiling is 1.
    [[nodiscard]] int shade(double density) const;
};

/// Nonzeros that the bin would hold if it were of average size.
[[nodiscard]] double bin_density(const PatternRaster& raster, int row_bin, int column_bin);

/// The scale for a recipe: the ceiling is the highest among the rasters' own 99th percentiles over bins that are not empty, so
/// that a scattered stage, with its many thin bins, does not set the scale for a compact one.
/// The rasters are of one matrix and one resolution.
[[nodiscard]] DensityScale common_scale(std::span<const PatternRaster> rasters);

/// The colour of plane 0 (blue) or plane 1 (orange) at a shade. Blue against orange is told apart with every common kind of
/// colour blindness, and without any colour, too: the lightest blue is darker than the darkest orange.
[[nodiscard]] Colour plane_colour(int plane, int shade);

/// The colour of a bin: its density as shade, the two planes' shares as hue. White where the bin is empty.
[[nodiscard]] Colour bin_colour(const PatternRaster& raster, const DensityScale& scale, int row_bin, int column_bin);

}  // namespace workbench
