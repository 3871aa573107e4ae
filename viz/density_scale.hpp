// Maps the density of bins to shades. All pictures of a recipe share one scale, so that they are comparable.
#pragma once

#include <span>

#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// Shades grow with the logarithm of the density, from one nonzero in a bin, which is still visible on white, to the ceiling,
/// so that a few dense blocks do not wash out the rest. A low ceiling uses only the middle of the ramp, because one and two
/// nonzeros should not differ strongly.
///
/// Density is measured in nonzeros per bin of average size. Bins may differ by a row or a column, and plain counts would show
/// that difference as a grid.
struct DensityScale {
    double ceiling = 1;  // nonzeros in a bin of average size; >= 1

    static constexpr int lightest = 0;
    static constexpr int middle = 96;
    static constexpr int darkest = 255;

    /// lightest .. darkest for a density above 0; always `middle` if the ceiling is 1.
    [[nodiscard]] int shade(double density) const;
};

/// The nonzeros that the bin would contain if it had average size.
[[nodiscard]] double bin_density(const PatternRaster& raster, int row_bin, int column_bin);

/// The scale of a recipe. The ceiling is the highest 99th percentile of any raster over its nonempty bins, so that a scattered
/// stage with many thin bins does not determine the scale of a compact one. All rasters have the same matrix and resolution.
[[nodiscard]] DensityScale common_scale(std::span<const PatternRaster> rasters);

/// The colour of plane 0 (blue) or plane 1 (orange) at a shade. They can be distinguished with every common kind of colour
/// blindness, and without colour, because the lightest blue is darker than the darkest orange.
[[nodiscard]] Colour plane_colour(int plane, int shade);

/// The colour of a bin: density as shade, the shares of the planes as hue. White if the bin is empty.
[[nodiscard]] Colour bin_colour(const PatternRaster& raster, const DensityScale& scale, int row_bin, int column_bin);

}  // namespace workbench
