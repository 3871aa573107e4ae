// Random numbers and orders that are the same on every machine, as those of the standard library's distributions are not.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014): SplitMix64.
#pragma once

#include <cstdint>
#include <limits>

#include "pipeline/matrix/permutation.hpp"

namespace workbench {

/// The numbers of SplitMix64 are mixed(seed), mixed(seed + random_step), mixed(seed + 2 random_step), ...
inline constexpr std::uint64_t random_step = 0x9E3779B97F4A7C15U;

/// Every bit of the input reaches every bit of the output; a bijection.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t bits) {
    bits += random_step;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31);
}

/// Numbers one after the other.
struct RandomStream {
    std::uint64_t state;

    std::uint64_t next() {
        const std::uint64_t number = mixed(state);
        state += random_step;
        return number;
    }

    /// Uniform in 0 .. bound - 1; bound >= 1. Numbers of the last, incomplete round of `bound` are drawn again.
    std::uint64_t below(std::uint64_t bound) {
        constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t end_of_rounds = largest - largest % bound;
        std::uint64_t drawn = next();
        while (drawn >= end_of_rounds) drawn = next();
        return drawn % bound;
    }
};

/// The numbers that belong to one thing of many, a row say, whoever draws them and when.
[[nodiscard]] constexpr RandomStream random_stream(std::uint64_t seed, std::uint64_t thing) {
    return {mixed(mixed(seed) ^ thing)};
}

/// All orders of `size` things are equally likely (Fisher and Yates).
[[nodiscard]] Permutation random_permutation(Index size, std::uint64_t seed);

}  // namespace workbench
