#include "arrays.hpp"

// Row by row, though a slice is stored column by column. Padding has value 0 and column 0.
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    const Index height = arrays.slice_height;
#pragma omp parallel for schedule(dynamic, 256)
    for (Index row = 0; row < arrays.row_count; ++row) {
        const Offset* const slice = arrays.slice_offsets + row / height;
        Value sum = 0;
        for (Offset slot = slice[0] + row % height; slot < slice[1]; slot += height) {
            sum += arrays.values[slot] * x[arrays.column_indices[slot]];
        }
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
