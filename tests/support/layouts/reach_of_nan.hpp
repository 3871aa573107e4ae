// The rows of y that an infinity or a NaN in x reaches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"

namespace workbench {

[[nodiscard]] inline bool has_entry(const CsrMatrix& matrix, Index row, Index column) {
    return std::ranges::binary_search(matrix.row_columns(row), column);
}

/// The first slot of padding whose row lacks its column, in words; "" if there is none, so that a kernel may multiply padding.
[[nodiscard]] inline std::string foreign_padding(const Layout<double>& layout, const CsrMatrix& matrix) {
    const std::vector<Index> empty = layout.rows_of_padding();
    std::string found;
    layout.for_each_slot([&](const Slot& slot) {
        if (!found.empty() || slot.nonzero >= 0 || slot.row < 0 || slot.column < 0) return;
        if (has_entry(matrix, slot.row, slot.column) || std::ranges::binary_search(empty, slot.row)) return;
        found = fmt::format("slot {} of row {} has column {}", slot.index, slot.row, slot.column);
    });
    return found;
}

/// The first row of y = A x, or y += A x, that a number at one place of x should have reached and did not, or the other way
/// round, in words; "" if there is none. Tries a NaN or an infinity at every place. without: rows that are not looked at,
/// ascending.
[[nodiscard]] inline std::string wrong_reach_of_nan(Kernel<double>& kernel, const CsrMatrix& matrix, Device& device,
                                                    const std::vector<Index>& without = {}) {
    for (Index column = 0; column < matrix.columns; ++column) {
        std::vector<double> x(matrix.columns, 1);
        x[column] = column % 2 == 0 ? std::nan("") : std::numeric_limits<double>::infinity();
        const DeviceMemory x_there = to_device<double>(device, x, "x");
        for (const bool accumulate : {false, true}) {
            std::vector<double> y(matrix.rows, 1);
            const DeviceMemory y_there = to_device<double>(device, y, "y");
            kernel.run(x_there.as<const double>(), y_there.as<double>(), accumulate);
            copy_from_device(device, y_there.as<const double>(), std::span(y));
            for (Index row = 0; row < matrix.rows; ++row) {
                if (std::isfinite(y[row]) != has_entry(matrix, row, column) || std::ranges::binary_search(without, row))
                    continue;
                return fmt::format("row {}, column {}: y = {}", row, column, y[row]);
            }
        }
    }
    return "";
}

}  // namespace workbench
