#include "stages/length_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

/// A random row of stretch i of n rows in `sample` stretches.
Index sampled_row(Index i, Index sample, Index rows) {
    const std::int64_t begin = std::int64_t{i} * rows / sample;
    const std::int64_t end = (std::int64_t{i} + 1) * rows / sample;
    return static_cast<Index>(begin + static_cast<std::int64_t>(mixed(i) % static_cast<std::uint64_t>(end - begin)));
}

/// The first free slot from `slot` on; next_free.size() - 1 where there is none.
Index find_free(std::vector<Index>& next_free, Index slot, Offset& probes) {
    for (++probes; next_free[slot] != slot; ++probes) {
        next_free[slot] = next_free[next_free[slot]];
        slot = next_free[slot];
    }
    return slot;
}

}  // namespace

int length_class(Index length) {
    constexpr int bits = 4;  // classes a doubling, as a power of two
    const int shift = std::max(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(length))) - 1 - bits, 0);
    return (shift << bits) + (length >> shift);
}

Index LengthHash::slot(Index length) const {
    const auto row_class = static_cast<std::size_t>(length_class(length));
    return row_class < starts.size() ? starts[row_class] : slots - 1;
}

LengthHash fit_length_hash(std::span<const Index> lengths, Index sample) {
    LengthHash hash{static_cast<Index>(lengths.size()), {}};
    sample = std::min(sample, hash.slots);
    std::vector<Index> counts;
    for (Index i = 0; i < sample; ++i) {
        const auto row_class = static_cast<std::size_t>(length_class(lengths[sampled_row(i, sample, hash.slots)]));
        if (row_class >= counts.size()) counts.resize(row_class + 1, 0);
        ++counts[row_class];
    }
    std::int64_t shorter = 0;
    for (const Index count : counts) {
        hash.starts.push_back(static_cast<Index>(shorter * hash.slots / sample));
        shorter += count;
    }
    return hash;
}

HashedRows place_by_hash(std::span<const Index> lengths, const LengthHash& hash) {
    const auto rows = static_cast<Index>(lengths.size());
    std::vector<Index> next_free(lengths.size() + 1);  // of a free slot: itself; the last one stands for "none"
    for (Index slot = 0; slot <= rows; ++slot) next_free[slot] = slot;
    HashedRows placed{std::vector<Index>(lengths.size()), 0};
    Index last_free = rows - 1;  // once probing has reached the end: all slots behind it are taken
    for (Index row = 0; row < rows; ++row) {
        Index slot = find_free(next_free, hash.slot(lengths[row]), placed.probes);
        if (slot == rows) {
            for (++placed.probes; next_free[last_free] != last_free; ++placed.probes) --last_free;
            slot = last_free;
        }
        next_free[slot] = slot + 1;
        placed.old_of_new[slot] = row;
    }
    return placed;
}

}  // namespace workbench
