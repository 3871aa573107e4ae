// Boundaries that tile an axis.
#pragma once

#include <string_view>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

enum class CutKind {
    partition,     // parts of a graph partition: cuts rows and columns alike
    row_block,     // consecutive rows
    length_group,  // consecutive rows of like length
    segment,       // consecutive columns
};

[[nodiscard]] std::string_view name_of(CutKind kind);

/// Does a cut of this kind tile the rows (a segment does not)? The columns (a partition and a segment do)?
[[nodiscard]] bool cuts_rows(CutKind kind);
[[nodiscard]] bool cuts_columns(CutKind kind);

/// Piece i of the axis is [boundaries[i], boundaries[i + 1]). The first boundary is 0, the last the length of the axis;
/// a piece may be empty.
struct Cuts {
    CutKind kind = CutKind::row_block;
    std::vector<Index> boundaries{0};

    [[nodiscard]] Index count() const { return static_cast<Index>(boundaries.size()) - 1; }
    [[nodiscard]] Index begin(Index piece) const { return boundaries[piece]; }
    [[nodiscard]] Index end(Index piece) const { return boundaries[piece + 1]; }
    [[nodiscard]] Index size(Index piece) const { return end(piece) - begin(piece); }

    /// The piece that a position of the axis lies in, found by bisection.
    [[nodiscard]] Index piece_at(Index position) const;

    /// The piece that each position of the axis lies in. [length of the axis]
    [[nodiscard]] std::vector<Index> pieces() const;

    friend bool operator==(const Cuts&, const Cuts&) = default;
};

}  // namespace workbench
