// BSR on a GPU: a group of lanes a block row. Each row of y is written by exactly one lane, the first of those that shared it,
// so that threads cannot race in global memory; no shared memory is used.
#include "kernels/bsr/layout.hpp"
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int entries_in_flight = 4;

/// What the kernel sees of a BsrLayout; passed by value.
template <typename Value>
struct BsrView {
    Index rows = 0;
    Index columns = 0;
    Index block_rows = 0;
    int size = 1;
    BsrLanes lanes;
    const Index* __restrict__ offsets = nullptr;
    const Index* __restrict__ block_columns = nullptr;
    const Value* __restrict__ values = nullptr;
};

/// One lane's place in `count` blocks that lie `stride` blocks apart, times x: column c of each block. The last block column
/// may reach beyond the matrix; no x is read there.
template <int Size, typename Value>
__device__ __forceinline__ Value block_dot(const Value* __restrict__ values, const Index* __restrict__ block_columns,
                                           Offset count, int stride, int block_size, int c, Index columns,
                                           const Value* __restrict__ x) {
    const int size = Size == 0 ? block_size : Size;
    const int value_stride = stride * size * size;
    Value sum = 0;
    for (; count > 0; count -= entries_in_flight) {
        Value value[entries_in_flight];
        unsigned column[entries_in_flight];  // below 2^31 + size
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (u < count) {
                value[u] = __ldcs(values + u * value_stride);
                column[u] = static_cast<unsigned>(block_columns[u * stride]) * size + c;
            }
        }
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (u < count && column[u] < static_cast<unsigned>(columns)) sum += value[u] * x[column[u]];
        }
        values += entries_in_flight * value_stride;
        block_columns += entries_in_flight * stride;
    }
    return sum;
}

/// Size: the block size where it is known beforehand, otherwise 0.
template <int Size, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(BsrView<Value> matrix, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const int size = Size == 0 ? matrix.size : Size;
    const int rows_at_once = Size == 0 ? matrix.lanes.rows_at_once : (Size * Size <= 32 ? Size : 32 / Size);
    const int tile = rows_at_once * size;
    const int blocks_at_once = matrix.lanes.blocks_at_once;
    const int lane = threadIdx.x % 32;
    const int group = lane / (tile * blocks_at_once);
    const int place = lane % (tile * blocks_at_once);
    const int turn = place / tile;  // which of the blocks that are taken at once
    const int r = place % tile / size;
    const int c = place % size;
    const Offset warp = static_cast<Offset>(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    const Offset block_row = warp * matrix.lanes.groups_per_warp + group;
    // Lanes without work stay: all lanes of a warp take part in the sums.
    const bool works = group < matrix.lanes.groups_per_warp && block_row < matrix.block_rows;
    const Offset first = works ? Offset{matrix.offsets[block_row]} + turn : 0;
    const Offset end = works ? matrix.offsets[block_row + 1] : 0;
    const Offset count = (end - first + blocks_at_once - 1) / blocks_at_once;
    for (int first_row = 0; first_row < size; first_row += rows_at_once) {
        const int row_of_block = first_row + r;
        Value sum = 0;
        if (row_of_block < size) {
            const Offset value = first * (size * size) + row_of_block * size + c;
            sum = block_dot<Size>(matrix.values + value, matrix.block_columns + first, count, blocks_at_once, size, c,
                                  matrix.columns, x);
        }
        Value sum_of_row = sum;
        for (int distance = 1; distance < size; ++distance) sum_of_row += __shfl_down_sync(~0u, sum, distance);
        Value total = sum_of_row;
        for (int block = 1; block < blocks_at_once; ++block) total += __shfl_down_sync(~0u, sum_of_row, block * tile);
        const Offset row = block_row * size + row_of_block;
        if (works && turn == 0 && c == 0 && row_of_block < size && row < matrix.rows) write_result(y + row, total, accumulate);
    }
}

template <typename Value>
using Multiply = void (*)(BsrView<Value>, const Value*, Value*, bool);

template <typename Value>
Multiply<Value> multiply_for(int size) {
    switch (size) {
        case 2: return multiply<2, Value>;
        case 3: return multiply<3, Value>;
        case 4: return multiply<4, Value>;
        case 5: return multiply<5, Value>;
        case 6: return multiply<6, Value>;
        case 8: return multiply<8, Value>;
        default: return multiply<0, Value>;
    }
}

template <ValueType Value>
class BsrKernel final : public Kernel<Value> {
public:
    BsrKernel(const BsrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          multiply_(multiply_for<Value>(layout.blocks.size)),
          offsets_(to_device(device, std::span(layout.blocks.offsets), "BSR block offsets")),
          columns_(to_device(device, std::span(layout.blocks.columns), "BSR block columns")),
          values_(to_device(device, std::span(layout.blocks.values), "BSR values")),
          view_{layout.row_count, layout.column_count,  layout.blocks.block_rows(), layout.blocks.size,
                layout.lanes(),   offsets_.as<Index>(), columns_.as<Index>(),       values_.as<Value>()} {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (view_.rows == 0) return;
        const Offset groups = view_.lanes.groups_per_warp;
        const Offset warps = (view_.block_rows + groups - 1) / groups;
        multiply_<<<blocks_for(warps, warps_per_block), threads_per_block, 0, stream_>>>(view_, x, y, accumulate);
        check_launch("bsr");
    }

private:
    cudaStream_t stream_;
    Multiply<Value> multiply_;
    DeviceMemory offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
    BsrView<Value> view_;
};

}  // namespace

std::vector<KernelEntry> bsr_cuda_kernels() {
    return {{"groups", Backend::cuda, "a group of lanes a block row, neighbouring lanes on neighbouring values of its blocks",
             prepare_as<BsrKernel, BsrLayout>}};
}

}  // namespace workbench
