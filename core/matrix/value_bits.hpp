// The bits of a value, which distinguish -0 from 0 and make a NaN equal to itself.
#pragma once

#include <bit>
#include <cstdint>

namespace workbench {

[[nodiscard]] constexpr std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
[[nodiscard]] constexpr std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace workbench
