// The unknowns of a mesh node, by the pattern: how the host and a GPU find them.
#pragma once

#include <array>
#include <optional>

#include "core/matrix/types.hpp"

namespace workbench {

/// The possible numbers of unknowns of a node that are found, besides 1.
inline constexpr std::array<Index, 4> node_sizes{2, 3, 4, 6};

struct NodeBlocks {
    Index size = 1;     // unknowns of a node
    Offset blocks = 0;  // of size x size, aligned to the first row and column, that hold nonzeros

    /// With f64 values and one 16-bit column each.
    [[nodiscard]] constexpr Offset bytes() const {
        constexpr Offset column_bytes = 2;
        return blocks * (Offset{size} * size * Offset{sizeof(double)} + column_bytes);
    }
};

/// The nodes whose blocks take the fewest bytes, of size 1 if single nonzeros take fewer; the smallest size wins ties. This
/// tolerates a few incomplete blocks, which fixed unknowns cause. count(size): std::optional<Offset>, the blocks of a size, or
/// none if nodes cannot have it.
[[nodiscard]] NodeBlocks nodes_of_fewest_bytes(Offset nonzeros, const auto& count) {
    NodeBlocks best{1, nonzeros};
    for (const Index size : node_sizes) {
        const std::optional<Offset> blocks = count(size);
        if (blocks && NodeBlocks{size, *blocks}.bytes() < best.bytes()) best = {size, *blocks};
    }
    return best;
}

}  // namespace workbench
