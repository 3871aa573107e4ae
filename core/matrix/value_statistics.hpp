// How much information the values of a matrix hold.
#pragma once

#include <span>

#include "core/matrix/types.hpp"

namespace workbench {

struct ValueStatistics {
    Offset distinct = 0;       // values that differ in their bits
    bool exact_in_f32 = true;  // f32 represents all of them
    bool one_a_row = false;    // those of each row are equal
    bool one_a_column = false;
    double entropy_bytes = 0;  // per value, if each is drawn independently with its frequency: sum of p log2(1 / p), over 8
};

/// Sorts a copy of the values. Leaves out what is true of rows and columns (line_values.hpp).
[[nodiscard]] ValueStatistics value_statistics(std::span<const double> values);

}  // namespace workbench
