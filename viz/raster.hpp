// The pattern of a matrix counted into a grid of bins: all the data of a picture, in a size independent of the matrix.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// Row i is in row bin floor(i * row_bins / rows), column j in column bin floor(j * column_bins / columns), in exact integers.
/// Plane 0 counts the nonzeros of the first share, or all of them without shares; plane 1 counts those of all other shares. If
/// the shares are tiles, plane 0 counts all nonzeros, and rows are where their tile stores them (Placement).
struct PatternRaster {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;

    std::vector<Index> row_edges{0};     // [row_bins + 1] row bin b contains the rows row_edges[b] to row_edges[b + 1] - 1
    std::vector<Index> column_edges{0};  // [column_bins + 1]

    Index shares = 0;
    Index tiles = 0;  // 0: the shares are no tiles

    std::vector<std::string> plane_names;       // one or two
    std::array<std::vector<Offset>, 2> planes;  // [row_bins][column_bins] nonzeros; the second may be empty
    std::vector<Offset> longest_row;    // [row_bins] nonzeros of the longest row in the bin, or of the longest row of a tile
    std::vector<Offset> rows_in_tiles;  // [row_bins] rows that tiles store in the bin; empty without tiles

    // The rows of the second share in storage order, counted into the row bins; empty unless there are exactly two shares.
    Index stored_rows = 0;
    std::vector<Offset> stored_longest;  // [stored bins]
    std::vector<Offset> stored_total;    // [stored bins] nonzeros

    // The inner boundaries of cuts, each rounded to the nearest beginning of a bin, without duplicates.
    std::vector<int> partition;    // of both axes
    std::vector<int> row_cuts;     // row blocks, length groups
    std::vector<int> column_cuts;  // segments

    /// The pieces that the cuts of a kind make, and the boundaries between them in the lists above.
    struct Pieces {
        CutKind kind = CutKind::partition;
        Index count = 0;  // without empty ones
        int lines = 0;    // fewer than count - 1 if boundaries share a bin

        friend bool operator==(const Pieces&, const Pieces&) = default;
    };
    std::vector<Pieces> pieces;

    /// Rows of a slice of the layout, if it stores the rows in this order in slices of equal height. 0: no slices are drawn.
    /// Set after rasterising, because a matrix has no layout.
    Index slice_height = 0;

    // Only of a small matrix, which is drawn entry by entry; otherwise empty.
    std::vector<Index> original_rows;     // [rows] the input's number of each row; empty with tiles
    std::vector<Index> original_columns;  // [columns]
    std::vector<Index> stored_originals;  // [stored_rows] the input's number of each row stored in the second share
    std::vector<double> values;           // [rows][columns], 0 without a nonzero
    struct TileRow {
        int row_bin = 0;
        int column_bin = 0;  // the first of the tile
        Index original = 0;  // the input's number of the row stored there
    };
    std::vector<TileRow> tile_rows;

    [[nodiscard]] int row_bins() const { return static_cast<int>(row_edges.size()) - 1; }
    [[nodiscard]] int column_bins() const { return static_cast<int>(column_edges.size()) - 1; }
    [[nodiscard]] bool shows_entries() const { return !original_rows.empty() || !original_columns.empty(); }
    [[nodiscard]] Offset count(int plane, int row_bin, int column_bin) const;
    [[nodiscard]] Offset count(int row_bin, int column_bin) const;
    /// The nonzeros of a plane in all rows of a row bin.
    [[nodiscard]] Offset row_bin_total(int plane, int row_bin) const;
};

/// The list of a raster's boundaries that has those of this kind of cuts.
[[nodiscard]] inline std::vector<int> PatternRaster::*boundaries_of(CutKind kind) {
    if (kind == CutKind::partition) return &PatternRaster::partition;
    return cuts_rows(kind) ? &PatternRaster::row_cuts : &PatternRaster::column_cuts;
}

/// The boundaries between slices of the layout, rounded like those of cuts; none if rows are not drawn in the order in which
/// the layout stores them.
[[nodiscard]] std::vector<int> slice_boundaries(const PatternRaster& raster);

/// True if every slice consists of whole bins.
[[nodiscard]] bool bins_fit_slices(const PatternRaster& raster);

/// The share of the slots of all slices that are padding; none without slices, or if bins do not fit them.
[[nodiscard]] std::optional<double> padding_of_slices(const PatternRaster& raster);

/// The most rows and columns of a matrix that is drawn entry by entry.
inline constexpr Index largest_shown_by_entry = 40;

/// Bins along the longer axis of a picture: few enough that a single bin is visible on a slide.
inline constexpr int picture_resolution = 400;

/// Counts the nonzeros into at most resolution x resolution bins of nearly equal size. The shorter axis gets proportionally
/// fewer bins, down to a sixteenth. Runs in parallel over row bins; the result does not depend on the number of threads. Throws
/// std::invalid_argument if resolution < 16.
[[nodiscard]] PatternRaster rasterise(const StagedMatrix& staged, int resolution = picture_resolution);

}  // namespace workbench
