// The product of one slice with x on a core of the host, for the Kokkos kernels of all layouts made of slices.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/common/storage/slices.hpp"

namespace workbench {

/// Calls store(lane, sum) with the sum of every lane of a slice, lanes without a row included. x begins at the column that
/// the slice's columns are relative to.
template <ValueType Value, typename ColumnIndex, typename Store>
void multiply_slice(const Slices<Value, ColumnIndex>& slices, Index slice, const Value* x, const Store& store) {
    // Side by side in registers or in the nearest cache; a number known to the compiler lets it unroll and vectorise.
    using FullBlock = std::integral_constant<Index, 32>;
    const Index height = slices.slice_height;
    const Index width = slices.width(slice);
    for (Index first = 0; first < height; first += FullBlock::value) {
        std::array<Value, FullBlock::value> sums{};
        const auto add_columns = [&](auto lanes) {
            const Value* values = slices.values.data() + slices.slice_offsets[slice] + first;
            const ColumnIndex* columns = slices.columns.data() + slices.slice_offsets[slice] + first;
            for (Index k = 0; k < width; ++k, values += height, columns += height) {
                for (Index lane = 0; lane < lanes; ++lane) sums[lane] += values[lane] * x[columns[lane]];
            }
        };
        const Index lanes = std::min(FullBlock::value, height - first);
        if (lanes == FullBlock::value) {
            add_columns(FullBlock{});
        } else {
            add_columns(lanes);
        }
        for (Index lane = 0; lane < lanes; ++lane) store(first + lane, sums[lane]);
    }
}

}  // namespace workbench
