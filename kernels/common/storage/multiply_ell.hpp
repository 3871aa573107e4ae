// The product of ELL rows with x on the host, for the Kokkos kernels of all layouts that hold such rows.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/storage/ell_slots.hpp"

namespace workbench {

/// Calls store(stored, sum) for every stored row, rows in parallel. Slots without a column are passed over.
template <ValueType Value, typename Store>
void multiply_ell(const EllSlots<Value>& slots, const Value* x, const Store& store) {
    // Some rows side by side: where the slots lie column by column, these are neighbours.
    constexpr Index block = 64;
    const Index* columns = slots.columns.data();
    const Value* values = slots.values.data();
    const std::int64_t blocks = (std::int64_t{slots.row_count} + block - 1) / block;
    for_each_in_parallel(blocks, 4, [&](std::int64_t number) {
        const auto first = static_cast<Index>(number * block);
        const Index count = std::min(block, slots.row_count - first);
        std::array<Value, block> sums{};
        const auto add = [&](Index row, Index k) {
            const Offset slot = slots.slot(first + row, k);
            if (columns[slot] >= 0) sums[row] += values[slot] * x[columns[slot]];
        };
        if (slots.order == EllOrder::row_major) {
            for (Index row = 0; row < count; ++row) {
                for (Index k = 0; k < slots.width; ++k) add(row, k);
            }
        } else {
            for (Index k = 0; k < slots.width; ++k) {
                for (Index row = 0; row < count; ++row) add(row, k);
            }
        }
        for (Index row = 0; row < count; ++row) store(first + row, sums[row]);
    });
}

}  // namespace workbench
