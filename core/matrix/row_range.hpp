// A range of consecutive rows of a matrix.
#pragma once

#include <stdexcept>
#include <string>

#include "core/matrix/types.hpp"

namespace workbench {

/// Rows first .. end - 1. A CsrMatrix of a range has count() rows, numbered from 0, and all columns of the matrix.
struct RowRange {
    Index first = 0;
    Index end = 0;

    [[nodiscard]] Index count() const { return end - first; }

    friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Throws std::out_of_range unless the range lies within 0 .. rows.
inline void check_range(RowRange range, Index rows) {
    if (0 <= range.first && range.first <= range.end && range.end <= rows) return;
    throw std::out_of_range("rows " + std::to_string(range.first) + " to " + std::to_string(range.end) + " of " +
                            std::to_string(rows));
}

}  // namespace workbench
