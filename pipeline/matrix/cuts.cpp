#include "pipeline/matrix/cuts.hpp"

#include <algorithm>

namespace workbench {

std::string_view name_of(CutKind kind) {
    switch (kind) {
        case CutKind::partition: return "partition";
        case CutKind::row_block: return "row_block";
        case CutKind::length_group: return "length_group";
        case CutKind::segment: return "segment";
    }
    return "unknown";
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
