// The hash by which rows of like length fall together: its classes, and how it is fitted to a sample. Used by the host
// (stages/length_hash.cpp) and by a GPU (kernels/prepare), which must come to the same starts to the bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "pipeline/matrix/random.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// The nonlinear part of the hash: lengths below 32 are classes of their own, longer ones fall into 16 classes a doubling, so
/// that the rows of a class differ by at most a sixteenth. Rises with the length; below length_classes for every length.
[[nodiscard]] constexpr int length_class(Index length) {
    constexpr int bits = 4;  // classes a doubling, as a power of two
    const int shift = std::max(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(length))) - 1 - bits, 0);
    return (shift << bits) + (length >> shift);
}

inline constexpr int length_classes = 448;

/// A random row, always the same, of each of `sample` equal stretches of the rows, without a division for each: stretches are
/// `step` / 2^32 long.
class SampledRows {
public:
    /// 1 <= sample <= rows
    constexpr SampledRows(Index sample, Index rows)
        : step_((static_cast<std::uint64_t>(rows) << 32) / static_cast<std::uint64_t>(sample)), every_row_(sample == rows) {}

    [[nodiscard]] constexpr Index row(Index i) const {
        const std::uint64_t begin = static_cast<std::uint64_t>(i) * step_;
        const std::uint64_t within = every_row_ ? 0 : (step_ >> 16) * (mixed(static_cast<std::uint64_t>(i)) >> 48);
        return static_cast<Index>((begin + within) >> 32);
    }

private:
    std::uint64_t step_;
    bool every_row_;
};

/// The first slot of a class, where `shorter` of the `sample` rows are in lower classes: about so many of all slots; and half a
/// standard error of the sample too early, unless the sample is all rows.
/// root: the square root of a double, correctly rounded.
template <typename Root>
[[nodiscard]] constexpr Index class_start(std::int64_t shorter, Index sample, Index slots, const Root& root) {
    const std::int64_t start = shorter * slots / sample;
    if (sample == slots) return static_cast<Index>(start);
    const double share = static_cast<double>(shorter) / static_cast<double>(sample);
    return static_cast<Index>(start -
                              static_cast<std::int64_t>(0.5 * slots * root(share * (1 - share) / static_cast<double>(sample))));
}

/// The slots that a row goes through, `home` being that of its class: up to the last one, then back from there, where all from
/// its home on are taken.
[[nodiscard]] constexpr Index slot_at(Index home, Index position, Index slots) {
    return position < slots - home ? home + position : slots - 1 - position;
}
[[nodiscard]] constexpr Index position_of(Index home, Index slot, Index slots) {
    return slot >= home ? slot - home : slots - 1 - slot;
}

}  // namespace workbench
