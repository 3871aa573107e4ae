// BiELL and BiJAD on a GPU: a strip for as many lanes of a warp as it has rows. Each row of y is written by exactly one thread,
// so that threads cannot race in global memory; no shared memory is used: lanes hand their sums on by shuffles.
#include "kernels/biell/layout.hpp"
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/lanes.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

template <int Height>
constexpr int last_group_of = 1 + last_group_of<Height / 2>;  // the binary logarithm
template <>
constexpr int last_group_of<1> = 0;

/// The last group of a strip first: all lanes share its longest row. From group to group each row then has half as many lanes,
/// and what two of them have found goes to the one that keeps the row.
template <int Height, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, const Offset* __restrict__ group_offsets, const Index* __restrict__ columns,
             const Value* __restrict__ values, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    constexpr int last_group = last_group_of<Height>;
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % Height;
    const Offset first_group = row / Height * (last_group + 1);
    const bool strip_exists = row - lane < rows;  // a lane without a row may help those that have one

    Offset offsets[last_group + 2];
#pragma unroll
    for (int group = 0; group <= last_group + 1; ++group)
        offsets[group] = strip_exists ? group_offsets[first_group + group] : 0;

    Value sum = 0;
#pragma unroll
    for (int group = last_group; group >= 0; --group) {
        const Offset first = offsets[group] + lane;
        const Offset width = (offsets[group + 1] - offsets[group]) / Height;
        sum += sparse_dot<entries_in_flight>(values + first, columns + first, width, Height, x);
        if (group > 0) {
            const int rows_of_group = Height >> group;
            const Value other_share = __shfl_xor_sync(~0u, sum, rows_of_group);
            sum = (lane & rows_of_group) == 0 ? sum + other_share : Value{0};
        }
    }
    if (row < rows) write_result(y + row, sum, accumulate);
}

template <typename Value>
using Multiply = void (*)(Index, const Offset*, const Index*, const Value*, const Value*, Value*, bool);

/// The heights that the layout declares: powers of two from 2 to 32.
template <typename Value>
Multiply<Value> multiply_for(Index strip_height) {
    return with_lanes<2>(strip_height, [](auto known) -> Multiply<Value> { return multiply<known, Value>; });
}

template <ValueType Value>
class BiellKernel final : public Kernel<Value> {
public:
    BiellKernel(const BiellLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          multiply_(multiply_for<Value>(layout.strip_height)),
          rows_(layout.row_count),
          group_offsets_(to_device(device, std::span(layout.group_offsets), "BiELL group offsets")),
          columns_(to_device(device, std::span(layout.column_indices), "BiELL column indices")),
          values_(to_device(device, std::span(layout.values), "BiELL values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        multiply_<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, group_offsets_.as<Offset>(), columns_.as<Index>(), values_.as<Value>(), x, y, accumulate);
        check_launch("biell");
    }

private:
    cudaStream_t stream_;
    Multiply<Value> multiply_;
    Index rows_;
    DeviceMemory group_offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace

std::vector<KernelEntry> biell_cuda_kernels() {
    return {{"strips", Backend::cuda,
             "a lane for each row of a strip; the lanes of short rows help with long ones, sums meet in shuffles",
             prepare_as<BiellKernel, BiellLayout>}};
}

}  // namespace workbench
