// Diagonals on a GPU: one thread a row. Each row of y is written by exactly one thread, so that threads cannot race in global
// memory; no shared memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/dia/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

/// Neighbouring threads read neighbouring values and neighbouring entries of x; all of them read the same offset. What lies
/// outside the matrix is not read.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, Index columns, Index diagonals, const Index* __restrict__ offsets, const Value* __restrict__ values,
             const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    values += row;
    Value sum = 0;
    for (Offset first = 0; first < diagonals; first += entries_in_flight) {
        Value value[entries_in_flight];
        unsigned column[entries_in_flight];  // left of the matrix it wraps around to beyond 2^31
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (first + u < diagonals) {
                column[u] = static_cast<unsigned>(row) + static_cast<unsigned>(offsets[first + u]);
                if (column[u] < static_cast<unsigned>(columns)) value[u] = __ldcs(values + (first + u) * rows);
            }
        }
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (first + u < diagonals && column[u] < static_cast<unsigned>(columns)) sum += value[u] * x[column[u]];
        }
    }
    write_result(y + row, sum, accumulate);
}

template <ValueType Value>
class DiaKernel final : public Kernel<Value> {
public:
    DiaKernel(const DiaLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          columns_(layout.column_count),
          diagonals_(static_cast<Index>(layout.offsets.size())),
          bytes_of_product_(layout.bytes_of_product()),
          offsets_(to_device(device, std::span(layout.offsets), "DIA offsets")),
          values_(to_device(device, std::span(layout.values), "DIA values")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        multiply<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, columns_, diagonals_, offsets_.as<Index>(), values_.as<Value>(), x, y, accumulate);
        check_launch("dia");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    cudaStream_t stream_;
    Index rows_;
    Index columns_;
    Index diagonals_;
    std::int64_t bytes_of_product_;
    DeviceMemory offsets_;
    DeviceMemory values_;
};

}  // namespace

std::vector<KernelEntry> dia_cuda_kernels() {
    return {{"rows", Backend::cuda, "one thread a row, neighbouring threads read neighbouring values and neighbouring x",
             prepare_as<DiaKernel, DiaLayout>}};
}

}  // namespace workbench
