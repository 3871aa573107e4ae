#include "core/matrix/cuts.hpp"

#include <algorithm>
#include <array>

namespace workbench {

std::string_view name_of(CutKind kind) {
    constexpr std::array<std::string_view, 4> names{"partition", "row_block", "length_group", "segment"};
    return names.at(static_cast<std::size_t>(kind));
}

bool cuts_rows(CutKind kind) { return kind != CutKind::segment; }

bool cuts_columns(CutKind kind) { return kind == CutKind::partition || kind == CutKind::segment; }

Index Cuts::piece_at(Index position) const {
    return static_cast<Index>(std::upper_bound(boundaries.begin(), boundaries.end(), position) - boundaries.begin()) - 1;
}

std::vector<Index> Cuts::pieces() const {
    std::vector<Index> result(boundaries.back());
    for (Index piece = 0; piece < count(); ++piece) {
        std::fill(result.begin() + begin(piece), result.begin() + end(piece), piece);
    }
    return result;
}

}  // namespace workbench
