#include "arrays.hpp"

// A thread a row: neighbouring threads read neighbouring slots. Padding has value 0 and column 0.
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= arrays.row_count) return;
    const Index height = arrays.slice_height;
    const Offset* const slice = arrays.slice_offsets + row / height;
    Value sum = 0;
    for (Offset slot = slice[0] + row % height; slot < slice[1]; slot += height) {
        sum += arrays.values[slot] * x[arrays.column_indices[slot]];
    }
    y[row] = accumulate ? y[row] + sum : sum;
}
