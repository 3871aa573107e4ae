// Row lengths beside the pattern: a bar for every row bin.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/raster.hpp"

namespace workbench {

struct LengthStrip {
    struct Bar {
        Offset longest = 0;       // nonzeros of the longest row in the bin
        double mean = 0;          // nonzeros of the mean row
        double second_share = 0;  // of the mean: the share in plane 1
    };

    std::string title;
    std::vector<Index> numbers;  // of the rows, where each bar is one row and the bars do not lie beside their rows
    std::vector<Bar> bars;       // from the first row bin on, possibly not to the last
    int row_bins = 0;            // that share the height
    Offset longest = 0;          // the end of the axis
    bool logarithmic = false;    // where a linear axis would leave the mean row invisible
};

/// With the axis that shows the bars: up to the longest row, logarithmic where the mean row would take less than a thirtieth of
/// it. `nonzeros` and `rows` are those of all bars together.
[[nodiscard]] LengthStrip with_axis(LengthStrip strip, Offset nonzeros, Offset rows);

/// All rows. The axis depends on the matrix alone, so that it is the same for all stages. Where there are tiles: their rows, as
/// they lie in the picture.
[[nodiscard]] LengthStrip row_lengths(const PatternRaster& raster);

/// The rows of the second share, as they are stored, on an axis of their own. No bars unless there are just two shares.
[[nodiscard]] LengthStrip stored_row_lengths(const PatternRaster& raster);

/// The bars, the longest row light behind the mean row, which is divided between the two hues.
void draw_strip(Canvas& canvas, const LengthStrip& strip, const Box& box);

/// Title and ends of the axis, above the box; below it, where it applies, that the axis is logarithmic.
void draw_strip_axis(Canvas& canvas, const LengthStrip& strip, const Box& box, int text_size);

/// Below a pattern: how many nonzeros the columns of each bin have on average, hanging from the pattern's lower side.
/// Gives the mean of the longest bars, 0 where nothing is drawn.
double draw_column_lengths(Canvas& canvas, const PatternRaster& raster, const Box& box);

/// What light and dark mean, on a line below (x, y). Gives the x where it ends.
int draw_strip_legend(Canvas& canvas, int x, int y, int text_size);

}  // namespace workbench
