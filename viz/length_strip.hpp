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
        double second_share = 0;  // the share of the mean that is in plane 1
    };

    std::string title;
    std::vector<Index> numbers = {};  // row numbers, if each bar is one row and is not beside that row in the pattern
    std::vector<Bar> bars = {};       // of the first row bins
    int row_bins = 0;                 // the number of bars that fill the height
    Offset longest = 0;               // the end of the axis
    bool logarithmic = false;         // because the mean row would be invisible on a linear axis

    std::vector<int> slices = {};     // the bins where drawn slices begin, then row_bins; empty: none
    std::vector<Offset> padded = {};  // the length to which each slice is padded; empty if slices share bins
};

/// Sets the axis: up to the longest row, logarithmic if the mean row is shorter than a thirtieth of it. `nonzeros` and `rows`
/// are the totals of all bars.
[[nodiscard]] LengthStrip with_axis(LengthStrip strip, Offset nonzeros, Offset rows);

/// All rows, or the rows of tiles as they are drawn. The axis depends on the matrix alone, so that all stages share it.
/// `height`: the height of the pattern in pixels; if 0, slices are not drawn.
[[nodiscard]] LengthStrip row_lengths(const PatternRaster& raster, int height = 0);

/// The rows of the second share in storage order, on an axis of their own. No bars unless there are exactly two shares.
[[nodiscard]] LengthStrip stored_row_lengths(const PatternRaster& raster);

/// Draws the bars: the longest row light, and the mean row on top, divided between the hues of the two planes. Slices are
/// outlined, each as wide as its padded rows.
void draw_strip(Canvas& canvas, const LengthStrip& strip, const Box& box);

/// Draws title and ends of the axis above the box, and a note below it if the axis is logarithmic.
void draw_strip_axis(Canvas& canvas, const LengthStrip& strip, const Box& box, int text_size);

/// Draws the mean column length of each column bin, as bars that hang from the pattern's lower side. Returns the value of the
/// longest bar, 0 if nothing is drawn.
double draw_column_lengths(Canvas& canvas, const PatternRaster& raster, const Box& box);

/// Explains light and dark bars on a line below (x, y).
void draw_strip_legend(Canvas& canvas, int x, int y, int text_size);

}  // namespace workbench
