// Neighbouring rows of a matrix.
#pragma once

#include <stdexcept>
#include <string>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// The rows from `first` up to, and without, `end`. A CsrMatrix of such rows has count() rows, which are numbered from 0, and
/// all columns of the matrix.
struct RowRange {
    Index first = 0;
    Index end = 0;

    [[nodiscard]] Index count() const { return end - first; }

    friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Throws std::out_of_range unless these are rows of a matrix of so many.
inline void check_range(RowRange range, Index rows) {
    if (0 <= range.first && range.first <= range.end && range.end <= rows) return;
    throw std::out_of_range("rows " + std::to_string(range.first) + " to " + std::to_string(range.end) + " of " +
                            std::to_string(rows));
}

}  // namespace workbench
