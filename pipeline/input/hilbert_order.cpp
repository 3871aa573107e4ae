#include "pipeline/input/hilbert_order.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace workbench {
namespace {

using Place = std::array<std::uint64_t, 3>;

constexpr int most_bits = 21;  // three coordinates fit 63 bits

/// How far along the curve a place is, with coordinates of `bits` bits.
std::uint64_t along_curve(Place place, int bits) {
    // From the coarsest halves of the cube to the finest: what lies in the upper half of an axis is mirrored, in the lower half
    // turned, so that the curve in it begins where it ended before.
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
    // What remains is a Gray code, its bits dealt out to the coordinates.
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
    const auto longest = static_cast<std::uint64_t>(*std::max_element(lengths.begin(), lengths.end()));
    const int bits = static_cast<int>(std::bit_width(longest - 1));
    const int shift = std::max(bits - most_bits, 0);
    const auto nodes = static_cast<Index>(lengths[0] * lengths[1] * lengths[2]);
    std::vector<std::pair<std::uint64_t, Index>> order(static_cast<std::size_t>(nodes));
    using Nodes = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
    Kokkos::parallel_for("hilbert", Nodes(0, nodes), [&](Index node) {
        const std::array<std::int64_t, 3> place{node % lengths[0], node / lengths[0] % lengths[1],
                                                node / lengths[0] / lengths[1]};
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
