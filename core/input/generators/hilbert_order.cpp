#include "core/input/generators/hilbert_order.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/input/generators/grid.hpp"

namespace workbench {
namespace {

using Place = std::array<std::uint64_t, 3>;

constexpr int most_bits = 21;  // three coordinates fit 63 bits

/// Position of a place along the curve; coordinates have `bits` bits.
std::uint64_t along_curve(Place place, int bits) {
    // Each level, coarse to fine, mirrors the upper half of an axis and rotates the lower half, so that the curve in one half
    // begins where it ends in the other.
    for (int bit = bits - 1; bit > 0; --bit) {
        const std::uint64_t below = (std::uint64_t{1} << bit) - 1;
        for (std::uint64_t& coordinate : place) {
            if ((coordinate >> bit & 1) != 0) {
                place[0] ^= below;
            } else {
                const std::uint64_t different = (place[0] ^ coordinate) & below;
                place[0] ^= different;
                coordinate ^= different;
            }
        }
    }
    // The coordinates now hold the bits of a Gray code, interleaved.
    std::uint64_t code = 0;
    std::uint64_t parity = 0;
    for (int bit = bits - 1; bit >= 0; --bit) {
        for (const std::uint64_t coordinate : place) {
            parity ^= coordinate >> bit & 1;
            code = code << 1 | parity;
        }
    }
    return code;
}

}  // namespace

Permutation hilbert_order(const std::array<std::int64_t, 3>& lengths) {
    const Grid grid{lengths};
    const auto longest = static_cast<std::uint64_t>(*std::max_element(lengths.begin(), lengths.end()));
    const int bits = static_cast<int>(std::bit_width(longest - 1));
    const int shift = std::max(bits - most_bits, 0);
    const auto nodes = static_cast<Index>(grid.nodes());
    std::vector<std::pair<std::uint64_t, Index>> order(static_cast<std::size_t>(nodes));
    using Nodes = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
    Kokkos::parallel_for("hilbert", Nodes(0, nodes), [&](Index node) {
        const Grid::Place place = grid.place(node);
        Place coarse{};
        for (int axis = 0; axis < 3; ++axis) coarse[axis] = static_cast<std::uint64_t>(place[axis]) >> shift;
        order[node] = {along_curve(coarse, bits - shift), node};
    });
    std::sort(order.begin(), order.end());
    std::vector<Index> old_of_new(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) old_of_new[i] = order[i].second;
    return Permutation::from_old_of_new(std::move(old_of_new));
}

}  // namespace workbench
