// CSC on a GPU: y is zeroed on the stream, then added to atomically, so that threads cannot race in global memory; no shared
// memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/lanes.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/csc/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;

/// `Lanes` threads share a column and its x: lane l takes the entries l, l + Lanes, ... of it, so that neighbouring lanes read
/// neighbouring entries.
template <int Lanes, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    add_columns(Index columns, const Offset* __restrict__ column_offsets, const Index* __restrict__ rows,
                const Value* __restrict__ values, const Value* __restrict__ x, Value* __restrict__ y) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const Offset column = thread / Lanes;
    if (column >= columns) return;
    const Offset end = column_offsets[column + 1];
    const Value x_of_column = x[column];
    // The additions leave nothing to wait for: the loads of the next round go out before they arrive.
    for (Offset k = column_offsets[column] + thread % Lanes; k < end; k += Lanes) {
        atomicAdd(y + __ldcs(rows + k), __ldcs(values + k) * x_of_column);
    }
}

template <typename Value>
using AddColumns = void (*)(Index, const Offset*, const Index*, const Value*, const Value*, Value*);

template <typename Value>
AddColumns<Value> add_columns_with(int lanes) {
    return with_lanes<1>(lanes, [](auto known) -> AddColumns<Value> { return add_columns<known, Value>; });
}

template <ValueType Value>
class CscKernel final : public Kernel<Value> {
public:
    CscKernel(const CscLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          columns_(layout.column_count),
          lanes_(lanes_for(layout.column_count, layout.nonzeros())),
          column_offsets_(to_device(device, std::span(layout.column_offsets), "CSC column offsets")),
          row_indices_(to_device(device, std::span(layout.row_indices), "CSC row indices")),
          values_(to_device(device, std::span(layout.values), "CSC values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && rows_ > 0) zero_result(y, rows_, stream_);
        if (columns_ == 0) return;
        add_columns_with<Value>(
            lanes_)<<<blocks_for(Offset{columns_} * lanes_, threads_per_block), threads_per_block, 0, stream_>>>(
            columns_, column_offsets_.as<Offset>(), row_indices_.as<Index>(), values_.as<Value>(), x, y);
        check_launch("csc");
    }

private:
    cudaStream_t stream_;
    Index rows_;
    Index columns_;
    int lanes_;
    DeviceMemory column_offsets_;
    DeviceMemory row_indices_;
    DeviceMemory values_;
};

}  // namespace

std::vector<KernelEntry> csc_cuda_kernels() {
    return {{"columns", Backend::cuda,
             "1 to 32 threads a column, by the mean column length, each product is added to y atomically",
             prepare_as<CscKernel, CscLayout>}};
}

}  // namespace workbench
