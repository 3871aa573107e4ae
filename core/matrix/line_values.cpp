#include "core/matrix/line_values.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace workbench {
namespace {

/// True if the nonzeros [0, end) agree with the first of their line. first_of(row, column): its number, -1 until it is set.
template <typename Value>
bool agree(const CsrMatrix& matrix, Offset end, const auto& first_of) {
    for (Index row = 0; row < matrix.rows && matrix.row_offsets[row] < end; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < std::min(end, matrix.row_offsets[row + 1]); ++k) {
            Offset& first = first_of(row, matrix.column_indices[k]);
            if (first < 0) first = k;
            const auto value = static_cast<Value>(matrix.values[k]);
            const auto expected = static_cast<Value>(matrix.values[first]);
            if (std::memcmp(&value, &expected, sizeof(Value)) != 0) return false;
        }
    }
    return true;
}

}  // namespace

template <typename Value>
bool have_equal_values(const CsrMatrix& matrix, Line line) {
    if (line == Line::row) {
        Index row_before = -1;
        Offset first = -1;
        return agree<Value>(matrix, matrix.nonzeros(), [&](Index row, Index) -> Offset& {
            if (row != std::exchange(row_before, row)) first = -1;
            return first;
        });
    }
    // Most matrices differ in their first rows, and then need no memory for all columns.
    constexpr Offset sample = 4096;
    std::unordered_map<Index, Offset> of_sample;
    const auto in_sample = [&](Index, Index column) -> Offset& { return of_sample.try_emplace(column, -1).first->second; };
    if (!agree<Value>(matrix, std::min(sample, matrix.nonzeros()), in_sample)) return false;
    std::vector<Offset> first(matrix.columns, -1);
    return agree<Value>(matrix, matrix.nonzeros(), [&](Index, Index column) -> Offset& { return first[column]; });
}

template bool have_equal_values<float>(const CsrMatrix&, Line);
template bool have_equal_values<double>(const CsrMatrix&, Line);

}  // namespace workbench
