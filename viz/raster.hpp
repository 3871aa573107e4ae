// The pattern of a matrix, counted into a grid of bins: all that a picture of it needs to know, and small however large the
// matrix is.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Row i lies in row bin floor(i * row_bins / rows), column j in column bin floor(j * column_bins / columns), in exact
/// integers. "Plane" 0 counts the nonzeros of the first share, or all of them where they are not split; plane 1 those of all
/// other shares. Where the shares are tiles, plane 0 counts them all, and a row lies where its tile stores it: the i-th of a
/// tile i rows below the tile's upper edge, so that the rows present in a tile lie together at its top.
struct PatternRaster {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;

    std::vector<Index> row_edges{0};     // [row_bins + 1] row bin b holds the rows from row_edges[b] to row_edges[b + 1] - 1
    std::vector<Index> column_edges{0};  // [column_bins + 1]

    Index tiles = 0;  // 0: the shares are no tiles, and rows lie where the matrix has them

    std::vector<std::string> plane_names;       // one or two
    std::array<std::vector<Offset>, 2> planes;  // [row_bins][column_bins] nonzeros; the second is empty where there is none
    std::vector<Offset> longest_row;    // [row_bins] nonzeros of the longest row in the bin, all shares together; of the
                                        // longest row in a tile where there are tiles
    std::vector<Offset> rows_in_tiles;  // [row_bins] rows that tiles store in the bin; empty without tiles

    // The rows of the second share in the order in which they are stored, counted into bins like those of the rows;
    // empty unless there are just two shares.
    Index stored_rows = 0;
    std::vector<Offset> stored_longest;  // [stored bins]
    std::vector<Offset> stored_total;    // [stored bins] nonzeros

    // Inner boundaries of cuts, as the number of the bin that begins nearest to them; each bin once.
    std::vector<int> partition;    // of both axes
    std::vector<int> row_cuts;     // row blocks, length groups
    std::vector<int> column_cuts;  // segments

    /// How many pieces the cuts of a kind make, and how many lines divide them above.
    struct Pieces {
        CutKind kind = CutKind::partition;
        Index count = 0;  // without empty ones
        int lines = 0;    // fewer than count - 1 where some lie in one bin

        friend bool operator==(const Pieces&, const Pieces&) = default;
    };
    std::vector<Pieces> pieces;

    // A matrix small enough to be drawn entry by entry (one bin an entry) carries these; otherwise they are empty.
    std::vector<Index> original_rows;     // [rows] the input's number of each row; empty where there are tiles
    std::vector<Index> original_columns;  // [columns]
    std::vector<Index> stored_originals;  // [stored_rows] the input's number of each row stored in the second share
    std::vector<double> values;           // [rows][columns], 0 where nothing is stored
    struct TileRow {
        int row_bin = 0;
        int column_bin = 0;  // the tile's first
        Index original = 0;  // the input's number of the row stored there
    };
    std::vector<TileRow> tile_rows;

    [[nodiscard]] int row_bins() const { return static_cast<int>(row_edges.size()) - 1; }
    [[nodiscard]] int column_bins() const { return static_cast<int>(column_edges.size()) - 1; }
    [[nodiscard]] bool shows_entries() const { return !original_rows.empty() || !original_columns.empty(); }
    [[nodiscard]] Offset count(int plane, int row_bin, int column_bin) const;
    [[nodiscard]] Offset count(int row_bin, int column_bin) const;
    /// Nonzeros of a plane in all rows of a row bin.
    [[nodiscard]] Offset row_bin_total(int plane, int row_bin) const;
};

/// A matrix with at most this many rows and columns is drawn entry by entry.
inline constexpr Index largest_shown_by_entry = 40;

/// Bins along the longer axis that all pictures are drawn from: few enough for a single bin to be seen on a slide.
inline constexpr int picture_resolution = 400;

/// Counts the nonzeros into at most resolution x resolution bins: one bin a row where there are no more rows than that, and
/// else bins of nearly equal size. The shorter axis of a matrix that is not square gets fewer bins in proportion, down to a
/// sixteenth. Runs in parallel over row bins; the result does not depend on the number of threads. Throws std::invalid_argument
/// where resolution < 16.
[[nodiscard]] PatternRaster rasterise(const StagedMatrix& staged, int resolution = picture_resolution);

}  // namespace workbench
