// Numbers of f64 in fewer bits, in device code as on the host.
#pragma once

#include <cstdint>

#include "core/contract/rounding.hpp"
#include "core/matrix/bf16.hpp"
#include "core/matrix/value_bits.hpp"

namespace workbench {

/// The host makes a NaN quiet and keeps its upper bits.
inline __device__ float to_f32(double value) {
    if (!isnan(value)) return static_cast<float>(value);
    const std::uint64_t bits = bits_of(value);
    return __uint_as_float(static_cast<std::uint32_t>((bits >> 32 & 0x80000000) | 0x7FC00000 | (bits >> 29 & 0x3FFFFF)));
}

inline __device__ Bf16 to_bf16(double value) {
    return isnan(value) ? Bf16{static_cast<std::uint16_t>(__float_as_uint(to_f32(value)) >> 16)} : bf16_of(value);
}

/// Like `rounded`.
inline __device__ double rounded_on_gpu(double value, Rounding rounding) {
    if (rounding == Rounding::none) return value;
    return rounding == Rounding::f32 ? to_f32(value) : static_cast<float>(to_bf16(value));
}

}  // namespace workbench
