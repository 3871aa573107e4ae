// Passes over the values and the offsets of a persistent matrix, called once for each item (persistent_builder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/krylov/persistent_matrix.hpp"

namespace workbench::krylov::passes {

/// True if f32 does not represent a value.
[[nodiscard]] constexpr bool is_rounded_by_f32(double value) {
    return static_cast<double>(static_cast<float>(value)) != value && value == value;
}

/// Replaces the values of a matrix that knows their positions, and sets the flag if Stored does not represent one of them.
/// values: as the matrix was given.
template <typename Value, typename Stored>
struct ReplaceValues {
    const std::uint32_t* entries = nullptr;
    const Value* values = nullptr;
    Stored* stored = nullptr;
    char* rounds = nullptr;  // zero; only written if Stored is narrower

    constexpr void operator()(std::size_t slot) const {
        if (entries[slot] == padding_entry) return;
        const Value value = values[entries[slot]];
        stored[slot] = static_cast<Stored>(value);
        if constexpr (sizeof(Stored) < sizeof(Value)) {
            if (is_rounded_by_f32(value)) *rounds = 1;
        }
    }
};

/// Sets the flag if f32 does not represent a value.
struct FindInexact {
    const double* values = nullptr;
    char* found = nullptr;  // zero

    constexpr void operator()(std::size_t k) const {
        if (is_rounded_by_f32(values[k])) *found = 1;
    }
};

/// Offsets of 32 bits in 64.
struct Widen {
    const std::int32_t* from;
    Offset* to;

    constexpr void operator()(std::size_t i) const { to[i] = from[i]; }
};

}  // namespace workbench::krylov::passes
