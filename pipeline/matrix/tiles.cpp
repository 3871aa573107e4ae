#include "pipeline/matrix/tiles.hpp"

#include <stdexcept>

namespace workbench {

bool has_tiles(const StagedMatrix& staged) { return !staged.parts.empty() && staged.find_cuts(CutKind::segment) != nullptr; }

Tile tile_of(const StagedMatrix& staged, const Part& part) {
    const Cuts* blocks = staged.find_cuts(CutKind::row_block);
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    if (segments == nullptr || part.entries.empty()) throw std::logic_error("part '" + part.name + "' is no tile");
    return {blocks == nullptr ? 0 : blocks->piece_at(part.rows.front()),
            segments->piece_at(staged.matrix.column_indices[part.entries.front()])};
}

}  // namespace workbench
