#include "arrays.hpp"

// Threads take some rows at a time as they become idle.
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
#pragma omp parallel for schedule(dynamic, 256)
    for (Index row = 0; row < arrays.row_count; ++row) {
        Value sum = 0;
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            sum += arrays.values[k] * x[arrays.column_indices[k]];
        }
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
