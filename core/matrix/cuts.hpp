// Boundaries that divide an axis into consecutive pieces.
#pragma once

#include <string_view>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

enum class CutKind {
    partition,     // parts of a graph partition; divides rows and columns alike
    row_block,     // blocks of rows
    length_group,  // groups of rows of similar length
    segment,       // blocks of columns
};

[[nodiscard]] std::string_view name_of(CutKind kind);

/// Return true if cuts of this kind divide the rows (all kinds but segments), or the columns (partitions and segments).
[[nodiscard]] bool cuts_rows(CutKind kind);
[[nodiscard]] bool cuts_columns(CutKind kind);

/// Piece i of the axis is [boundaries[i], boundaries[i + 1]). The first boundary is 0 and the last is the length of the axis;
/// pieces may be empty.
struct Cuts {
    CutKind kind = CutKind::row_block;
    std::vector<Index> boundaries{0};

    [[nodiscard]] Index count() const { return static_cast<Index>(boundaries.size()) - 1; }
    [[nodiscard]] Index begin(Index piece) const { return boundaries[piece]; }
    [[nodiscard]] Index end(Index piece) const { return boundaries[piece + 1]; }
    [[nodiscard]] Index size(Index piece) const { return end(piece) - begin(piece); }

    /// The piece that contains a position, found by bisection.
    [[nodiscard]] Index piece_at(Index position) const;

    /// The piece that contains each position. [length of the axis]
    [[nodiscard]] std::vector<Index> pieces() const;

    friend bool operator==(const Cuts&, const Cuts&) = default;
};

}  // namespace workbench
