// bfloat16: the upper half of a number of f32, with 8 significant bits and the range of f32. For storage alone: arithmetic is
// in f32 or f64. NVRTC also compiles this, and has no <bit>.
#pragma once

#include <cstdint>

namespace workbench {

struct Bf16 {
    std::uint16_t bits = 0;

    /// Exact.
    constexpr operator float() const { return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16); }
};

/// The nearest number; if two are equally near, the one whose last bit is 0. A value that exceeds the largest number by half a
/// step or more becomes infinite; a NaN becomes a NaN of the same sign. The result is rounded once, although it passes through
/// f32: the first rounding is to odd (Boldo, Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
/// rounding to odd", 2008).
[[nodiscard]] constexpr Bf16 bf16_of(double value) {
    const auto nearest = static_cast<float>(value);
    auto bits = __builtin_bit_cast(std::uint32_t, nearest);
    const auto upper_half = [&] { return static_cast<std::uint16_t>(bits >> 16); };
    if (value != value)
        return {static_cast<std::uint16_t>(upper_half() | 0x40U)};  // else only lower bits may say that it is one
    const double there = nearest;
    if (there != value) {
        const bool is_farther_from_0 = value > 0 ? there > value : there < value;
        if (is_farther_from_0) --bits;
        bits |= 1U;
    }
    bits += 0x7FFFU + (upper_half() & 1U);
    return {upper_half()};
}

}  // namespace workbench
