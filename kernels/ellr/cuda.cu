// ELLPACK-R on a GPU: one thread a row, which stops at the row's end; a warp goes on to its longest row (PELLR eq. 1). Each row
// of y is written by exactly one thread, so that threads cannot race in global memory; no shared memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/ellr/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, const Index* __restrict__ row_lengths, const Index* __restrict__ columns,
             const Value* __restrict__ values, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    const Value sum = sparse_dot<entries_in_flight>(values + row, columns + row, row_lengths[row], Offset{rows}, x);
    write_result(y + row, sum, accumulate);
}

template <ValueType Value>
class EllrKernel final : public Kernel<Value> {
public:
    EllrKernel(const EllrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.slots.row_count),
          bytes_of_product_(layout.bytes_of_product()),
          row_lengths_(to_device(device, std::span(layout.row_lengths), "ELLPACK-R row lengths")),
          columns_(to_device(device, std::span(layout.slots.columns), "ELLPACK-R column indices")),
          values_(to_device(device, std::span(layout.slots.values), "ELLPACK-R values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        multiply<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, row_lengths_.as<Index>(), columns_.as<Index>(), values_.as<Value>(), x, y, accumulate);
        check_launch("ellr");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    cudaStream_t stream_;
    Index rows_;
    std::int64_t bytes_of_product_;
    DeviceMemory row_lengths_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace

std::vector<KernelEntry> ellr_cuda_kernels() {
    return {{"rows", Backend::cuda, "one thread a row, which stops at the row's end", prepare_as<EllrKernel, EllrLayout>}};
}

}  // namespace workbench
