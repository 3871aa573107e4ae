#include "arrays.hpp"

// THREADS_PER_ROW neighbouring threads share a row; it is the recipe's threads_per_row, here a power of two up to 32.
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset thread = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    const Offset row = thread / THREADS_PER_ROW;
    const Offset lane = thread % THREADS_PER_ROW;
    Value sum = 0;
    if (row < arrays.row_count) {
        for (Offset k = arrays.row_offsets[row] + lane; k < arrays.row_offsets[row + 1]; k += THREADS_PER_ROW) {
            sum += arrays.values[k] * x[arrays.column_indices[k]];
        }
    }
    for (int distance = THREADS_PER_ROW / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (row < arrays.row_count && lane == 0) y[row] = accumulate ? y[row] + sum : sum;
}
