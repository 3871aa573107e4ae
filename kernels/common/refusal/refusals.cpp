#include "kernels/common/refusal/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

ParameterDeclaration slots_per_nonzero_parameter(double default_value) {
    return real_parameter("slots_per_nonzero", by_default(default_value), at_least(1, "slots"),
                          "the most slots, padding included, for each nonzero: a matrix that needs more is unsuitable");
}

void require_bounded_slots(const std::string& storage, double slots, Offset nonzeros, std::size_t bytes_per_slot,
                           const SlotBound& bound) {
    const auto refuse = [&](const std::string& why) {
        throw Unsuitable(fmt::format("{} would have {:.0f} slots for {}: {}; {}", storage, slots, counted(nonzeros, "nonzero"),
                                     why, bound.advice));
    };
    const auto count = static_cast<double>(nonzeros);
    if (slots > bound.slots_per_nonzero * count) {
        refuse(fmt::format("{:.4g} a nonzero, but at most {:.4g} are allowed", slots / count, bound.slots_per_nonzero));
    }
    const double wanted = slots * static_cast<double>(bytes_per_slot);
    const std::size_t free = free_host_memory();
    if (wanted > static_cast<double>(free)) refuse(fmt::format("{:.0f} bytes, but {} are free", wanted, free));
}

void require_narrow(const Cuts& pieces, const std::string& advice) {
    constexpr Index most = 65536;
    for (Index piece = 0; piece < pieces.count(); ++piece) {
        if (pieces.size(piece) <= most) continue;
        throw Unsuitable(fmt::format("{} {} has {}, but columns of 16 bits reach {}: {}, or set column_index = \"u32\"",
                                     name_of(pieces.kind), piece, counted(pieces.size(piece), "column"), most, advice));
    }
}

template <>
void require_values_in_range<double>(const CsrMatrix&) {}

template <>
void require_values_in_range<float>(const CsrMatrix& matrix) {
    const double* values = matrix.values.data();
    const auto overflows = [](double value) { return std::isfinite(value) && !std::isfinite(static_cast<float>(value)); };
    const std::int64_t count = count_in_parallel(matrix.nonzeros(), [=](std::int64_t i) { return overflows(values[i]); });
    if (count == 0) return;
    double largest = 0;
    for (const double value : matrix.values) {
        if (overflows(value)) largest = std::max(largest, std::abs(value));
    }
    throw Unsuitable(fmt::format("{} of {} values are finite in f64 but not in f32 (the largest magnitude is {:.6g}): use f64",
                                 count, matrix.nonzeros(), largest));
}

void require_descending(const ShareView& rows, const DescendingRows& order) {
    for (Index i = 1; i < rows.row_count(); ++i) {
        const bool first_of_window = order.window > 0 && i % order.window == 0;
        if (first_of_window || rows.length(i) <= rows.length(i - 1)) continue;
        throw Unsuitable(fmt::format("{}, but row {}{} has {} and row {}, stored before it, has {}: put stage {} before",
                                     order.requirement, rows.row(i),
                                     order.share_name.empty() ? "" : fmt::format(" of share '{}'", order.share_name),
                                     counted(rows.length(i), "nonzero"), rows.row(i - 1), rows.length(i - 1), order.stage));
    }
}

}  // namespace workbench
