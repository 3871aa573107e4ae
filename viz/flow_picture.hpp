// The two phases of a product over segments or tiles: each piece of the matrix is multiplied with its part of x, and the
// partial results of a row are added up. Source: Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication'
// (slides): SpMV Execution; Yan, Diao, Liu, An, Xu (2025), figure 1.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "viz/canvas.hpp"

namespace workbench {

/// A segment or tile, with its rows in the order of storage.
struct FlowPiece {
    Index row_block = 0;
    Index segment = 0;
    std::vector<std::pair<Index, std::vector<Index>>> rows = {};  // row, and the columns of its nonzeros; in the current order
};

struct ProductFlow {
    std::vector<Index> row_numbers;     // [rows] of the current rows in the input
    std::vector<Index> column_numbers;  // [columns] likewise
    std::vector<Index> row_starts;      // [row blocks + 1]
    std::vector<Index> column_starts;   // [segments + 1]
    std::vector<FlowPiece> pieces;

    /// The stored rows of all pieces.
    [[nodiscard]] Offset partial_results() const;
};

/// The most rows and columns of a matrix that can be drawn.
inline constexpr Index most_flow_rows = 32;

/// Throws std::invalid_argument unless the matrix is split into segments or tiles and has 1 to most_flow_rows rows and columns.
[[nodiscard]] ProductFlow flow_of(const StagedMatrix& staged);

/// A 16:9 picture. Left: for each segment its x, its pieces and their partial results; right: the sums that are y. Each segment
/// has a colour; numbers are those of the input's rows and columns.
struct FlowPicture {
    std::string title;
    std::string subtitle;
    const ProductFlow& flow;
    int width = 1920;
    /// For a paper: the phases alone, with (a) and (b) below, and as high as they are. A pixel is then 1 / fineness of
    /// PaperColumn's.
    bool is_bare = false;

    static constexpr int fineness = 4;
};

/// The height of the numbers of a picture for a paper, in points.
[[nodiscard]] double points_of_numbers(const FlowPicture& picture);

[[nodiscard]] PictureSize size_of(const FlowPicture& picture);
void draw(Canvas& canvas, const FlowPicture& picture);

}  // namespace workbench
