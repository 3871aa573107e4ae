// Random numbers and permutations that are the same on every machine, unlike the distributions of the standard library.
// Source: SplitMix64 of Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#pragma once

#include <cstdint>
#include <limits>

#include "core/matrix/permutation.hpp"

namespace workbench {

/// SplitMix64 returns mixed(seed), mixed(seed + random_step), mixed(seed + 2 random_step), ...
inline constexpr std::uint64_t random_step = 0x9E3779B97F4A7C15U;

/// A bijection in which every bit of the input affects every bit of the output.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t bits) {
    bits += random_step;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31);
}

struct RandomStream {
    std::uint64_t state;

    std::uint64_t next() {
        const std::uint64_t number = mixed(state);
        state += random_step;
        return number;
    }

    /// Uniform in 0 .. bound - 1, by rejection; bound >= 1.
    std::uint64_t below(std::uint64_t bound) {
        constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t end_of_uniform = largest - largest % bound;
        std::uint64_t drawn = next();
        while (drawn >= end_of_uniform) drawn = next();
        return drawn % bound;
    }
};

/// An independent stream for one of many items, such as a row, so that results do not depend on the order of the draws.
[[nodiscard]] constexpr RandomStream random_stream(std::uint64_t seed, std::uint64_t item) {
    return {mixed(mixed(seed) ^ item)};
}

/// A uniformly random permutation (Fisher-Yates shuffle).
[[nodiscard]] Permutation random_permutation(Index size, std::uint64_t seed);

}  // namespace workbench
