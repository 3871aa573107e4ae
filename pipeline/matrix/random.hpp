// Random numbers and orders that are the same on every machine, as those of the standard library's distributions are not.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014): SplitMix64.
#pragma once

#include <cstdint>

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

/// All orders of `size` things are equally likely (Fisher and Yates).
[[nodiscard]] Permutation random_permutation(Index size, std::uint64_t seed);

}  // namespace workbench
