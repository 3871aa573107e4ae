// CSR on a GPU. Each row of y is written by exactly one thread, so that threads cannot race in global memory; no shared memory
// is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/lanes.hpp"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/csr/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

/// `Lanes` threads share a row: lane l takes the entries l, l + Lanes, ... of it, so that neighbouring lanes read neighbouring
/// entries.
template <int Lanes, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, const Offset* __restrict__ row_offsets, const Index* __restrict__ columns,
             const Value* __restrict__ values, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const Offset row = thread / Lanes;
    const int lane = static_cast<int>(thread % Lanes);
    Value sum = 0;
    if (row < rows) {
        const Offset first = row_offsets[row] + lane;
        const Offset count = (row_offsets[row + 1] - first + Lanes - 1) / Lanes;
        sum = sparse_dot<entries_in_flight>(values + first, columns + first, count, Lanes, x);
    }
    // Outside the branch: all lanes of a warp take part, those past the last row too.
    sum = sum_over_lanes<Lanes>(sum);
    if (lane == 0 && row < rows) write_result(y + row, sum, accumulate);
}

template <typename Value>
using Multiply = void (*)(Index, const Offset*, const Index*, const Value*, const Value*, Value*, bool);

template <ValueType Value>
class CsrKernel final : public Kernel<Value> {
public:
    CsrKernel(const CsrLayout<Value>& layout, Device& device, Multiply<Value> multiply, int lanes)
        : stream_(cuda_device(device).stream()),
          multiply_(multiply),
          lanes_(lanes),
          rows_(layout.row_count),
          row_offsets_(to_device(device, std::span(layout.row_offsets), "CSR row offsets")),
          columns_(to_device(device, std::span(layout.column_indices), "CSR column indices")),
          values_(to_device(device, std::span(layout.values), "CSR values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        multiply_<<<blocks_for(Offset{rows_} * lanes_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, row_offsets_.as<Offset>(), columns_.as<Index>(), values_.as<Value>(), x, y, accumulate);
        check_launch("csr");
    }

private:
    cudaStream_t stream_;
    Multiply<Value> multiply_;
    int lanes_;
    Index rows_;
    DeviceMemory row_offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

template <typename Value>
Multiply<Value> multiply_with(int lanes) {
    return with_lanes<csr_least_lanes>(lanes, [](auto known) -> Multiply<Value> { return multiply<known, Value>; });
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_vector(const Layout<Value>& layout, Device& device) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout);
    const int lanes = lanes_for(csr.row_count, csr.nonzeros(), csr_least_lanes);
    return std::make_unique<CsrKernel<Value>>(csr, device, multiply_with<Value>(lanes), lanes);
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_scalar(const Layout<Value>& layout, Device& device) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout);
    return std::make_unique<CsrKernel<Value>>(csr, device, multiply<1, Value>, 1);
}

}  // namespace

std::vector<KernelEntry> csr_cuda_kernels() {
    return {
        {"vector",
         Backend::cuda,
         "2 to 32 threads a row, by the mean row length",
         {prepare_vector<float>, prepare_vector<double>}},
        {"scalar", Backend::cuda, "one thread a row", {prepare_scalar<float>, prepare_scalar<double>}},
    };
}

}  // namespace workbench
