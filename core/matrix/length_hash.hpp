// The nonlinear hash of row lengths: its classes, and how it is fitted to a sample. The host (stages/length_hash.cpp) and the
// GPU (kernels/prepare) share this code, because both must compute the same table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/matrix/random.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// The class of a row length. Each length below 32 has its own class; longer ones have 16 classes per doubling, so that the
/// lengths of a class differ by at most a sixteenth. Monotonic in the length; in 0 .. length_classes - 1.
[[nodiscard]] constexpr int length_class(Index length) {
    constexpr int bits = 4;  // log2 of the classes per doubling
    const int shift = std::max(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(length))) - 1 - bits, 0);
    return (shift << bits) + (length >> shift);
}

inline constexpr int length_classes = 448;

/// Stratified sampling: a random row, always the same, from each of `sample` equal ranges of the rows. A range has step / 2^32
/// rows, which avoids a division per row.
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

/// The first slot of a class, where `shorter` of the `sample` rows are in lower classes: the same share of all slots, minus
/// half a standard error of the sample unless the sample is all rows. root: the correctly rounded square root of a double.
template <typename Root>
[[nodiscard]] constexpr Index class_start(std::int64_t shorter, Index sample, Index slots, const Root& root) {
    const std::int64_t start = shorter * slots / sample;
    if (sample == slots) return static_cast<Index>(start);
    const double share = static_cast<double>(shorter) / static_cast<double>(sample);
    return static_cast<Index>(start -
                              static_cast<std::int64_t>(0.5 * slots * root(share * (1 - share) / static_cast<double>(sample))));
}

}  // namespace workbench
