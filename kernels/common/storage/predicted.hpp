// The common parts of the predictions of layouts (LayoutEntry::predict).
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "core/contract/device.hpp"
#include "core/contract/parameters.hpp"
#include "core/forecast/forecast.hpp"
#include "kernels/common/storage/literature_sizes.hpp"

namespace workbench {

// Bytes of elements.
inline constexpr std::int64_t offset_bytes = sizeof(Offset);
inline constexpr std::int64_t index_bytes = sizeof(Index);
inline constexpr std::int64_t short_bytes = sizeof(std::uint16_t);

/// Arrays of these bytes, which a product reads once, with x read row by row. bandwidth: while a GPU reads them, relative to
/// copying; the numbers in the layouts are fitted to the lines of docs/results (h200-*).
[[nodiscard]] inline LayoutCost cost_of_arrays(const PatternForecast& pattern, Precision precision, Offset slots,
                                               std::int64_t array_bytes, double bandwidth) {
    return {.slots = slots,
            .array_bytes = array_bytes,
            .vector_bytes = value_bytes(precision) * (std::int64_t{pattern.rows()} + pattern.columns()),
            .exact = pattern.order_is_known(),
            .sectors = pattern.sectors(precision),
            .bandwidth = bandwidth};
}

[[nodiscard]] inline Offset pieces_of(Offset count, Offset piece) { return (count + piece - 1) / piece; }

/// The sectors that hold x.
[[nodiscard]] inline Offset vector_sectors(const PatternForecast& pattern, Precision precision) {
    return pieces_of(std::int64_t{pattern.columns()} * value_bytes(precision), cache_sector);
}

/// The lanes of a warp with a row each that wait for the longest row, in sectors that take as long.
[[nodiscard]] inline double sectors_of_idle_lanes(const PatternForecast& pattern) {
    constexpr double sectors_of_step = 0.25;
    return sectors_of_step * static_cast<double>(pattern.of_lengths(sell_slots, 32) - pattern.nonzeros());
}

/// Notes that a layout will refuse the matrix because of its parameter slots_per_nonzero, with some tolerance for estimates.
inline void refuse_slots(LayoutCost& cost, const Parameters& parameters, Offset nonzeros) {
    constexpr double tolerance = 1.2;
    const double bound = parameters.real("slots_per_nonzero") * (cost.exact ? 1 : tolerance);
    if (static_cast<double>(cost.slots) <= bound * static_cast<double>(nonzeros)) return;
    cost.unsuitable =
        fmt::format("would store {:.3g} slots a nonzero, more than slots_per_nonzero = {:g}",
                    static_cast<double>(cost.slots) / static_cast<double>(nonzeros), parameters.real("slots_per_nonzero"));
}

/// Sliced ELL over the rows of a pattern (Slices): its slots, and the bytes of its arrays.
struct SlicesForecast {
    Offset slots = 0;
    std::int64_t bytes = 0;
};
[[nodiscard]] inline SlicesForecast forecast_slices(const PatternForecast& pattern, Index height, std::int64_t slot_bytes) {
    const Offset slots = pattern.of_lengths(sell_slots, height);
    return {slots, slots * slot_bytes + (pieces_of(pattern.rows(), height) + 1) * offset_bytes};
}

}  // namespace workbench
