// CSR with short columns on a GPU: eight threads a row. Each row of y is written by exactly one thread, the first of the eight,
// so that threads cannot race in global memory; no shared memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/csr16/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, const Offset* __restrict__ row_offsets, const Index* __restrict__ first_columns,
             const std::uint16_t* __restrict__ columns, const Value* __restrict__ values, const Value* __restrict__ x,
             Value* __restrict__ y, bool accumulate) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const Offset row = thread / csr16_lanes;
    const int lane = static_cast<int>(thread % csr16_lanes);
    Value sum = 0;
    if (row < rows) {
        const Offset first = row_offsets[row] + lane;
        const Offset count = (row_offsets[row + 1] - first + csr16_lanes - 1) / csr16_lanes;
        sum = sparse_dot<entries_in_flight>(values + first, columns + first, count, csr16_lanes, x + first_columns[row]);
    }
    // Outside the branch: all lanes of a warp take part, those past the last row too.
    sum = sum_over_lanes<csr16_lanes>(sum);
    if (lane == 0 && row < rows) write_result(y + row, sum, accumulate);
}

template <ValueType Value>
class Csr16Kernel final : public Kernel<Value> {
public:
    Csr16Kernel(const Csr16Layout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          row_offsets_(to_device(device, std::span(layout.row_offsets), "csr16 row offsets")),
          first_columns_(to_device(device, std::span(layout.first_columns), "csr16 first columns")),
          columns_(to_device(device, std::span(layout.columns_from_first), "csr16 columns")),
          values_(to_device(device, std::span(layout.values), "csr16 values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        multiply<<<blocks_for(Offset{rows_} * csr16_lanes, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, row_offsets_.as<Offset>(), first_columns_.as<Index>(), columns_.as<std::uint16_t>(), values_.as<Value>(), x,
            y, accumulate);
        check_launch("csr16");
    }

private:
    cudaStream_t stream_;
    Index rows_;
    DeviceMemory row_offsets_;
    DeviceMemory first_columns_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace

std::vector<KernelEntry> csr16_cuda_kernels() {
    return {{"lanes", Backend::cuda, "eight threads a row", prepare_as<Csr16Kernel, Csr16Layout>}};
}

}  // namespace workbench
