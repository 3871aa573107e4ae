// Banded blocks on a GPU: one thread a row. Each row of y is written by exactly one thread, so that threads cannot race in
// global memory; no shared memory is used.
#include "kernels/banded_block/layout.hpp"
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/device/sparse_dot.cuh"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 8;

/// What the kernel sees of a BandedBlockLayout; passed by value.
template <typename Value>
struct BandView {
    Index rows = 0;
    Index columns = 0;
    Index height = 1;
    Index width = 1;
    Index first_block = 0;
    Offset band_width = 0;
    const Value* values = nullptr;
};

/// The threads of a block row read neighbouring values and one and the same x. What lies outside the matrix is not read.
/// Height: the block height where it is known beforehand, otherwise 0.
template <int Height, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(BandView<Value> band, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Index height = Height == 0 ? band.height : Height;
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= band.rows) return;
    const Offset first_row = row / height * height;  // of its block row
    const Offset first_column = (first_row / band.width + band.first_block) * band.width;
    const Offset begin = first_column < 0 ? 0 : first_column;
    const Offset last = first_column + band.band_width;
    const Offset end = last < band.columns ? last : band.columns;
    const Value* __restrict__ values =
        band.values + first_row * band.band_width + (begin - first_column) * height + (row - first_row);
    Value sum = 0;
    for (Offset column = begin; column < end; column += entries_in_flight) {
        Value value[entries_in_flight];
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (column + u < end) value[u] = __ldcs(values + u * height);
        }
#pragma unroll
        for (int u = 0; u < entries_in_flight; ++u) {
            if (column + u < end) sum += value[u] * x[column + u];
        }
        values += entries_in_flight * height;
    }
    write_result(y + row, sum, accumulate);
}

template <ValueType Value>
class BandedBlockKernel final : public Kernel<Value> {
public:
    BandedBlockKernel(const BandedBlockLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_of_product_(layout.bytes_of_product()),
          values_(to_device(device, std::span(layout.values), "banded blocks")),
          band_{layout.row_count,   layout.column_count, layout.block_height, layout.block_width,
                layout.first_block, layout.band_width(), values_.as<Value>()} {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (band_.rows == 0) return;
        const auto kernel = band_.height == 8    ? multiply<8, Value>
                            : band_.height == 32 ? multiply<32, Value>
                                                 : multiply<0, Value>;
        kernel<<<blocks_for(band_.rows, threads_per_block), threads_per_block, 0, stream_>>>(band_, x, y, accumulate);
        check_launch("banded_block");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    cudaStream_t stream_;
    std::int64_t bytes_of_product_;
    DeviceMemory values_;
    BandView<Value> band_;
};

}  // namespace

std::vector<KernelEntry> banded_block_cuda_kernels() {
    return {{"rows", Backend::cuda, "one thread a row, the threads of a block row read neighbouring values and the same x",
             prepare_as<BandedBlockKernel, BandedBlockLayout>}};
}

}  // namespace workbench
