// Sliced ELL on a GPU by the lengths of the rows, with one thread per row and whole blocks for long rows (long_rows.hpp), all
// in one launch.
//
// Races. One thread writes each row of y: that of the row, or the first of the block that has all of it. The threads of a block
// write to places of their own in shared memory before a barrier, and one reads these after it. The sums of a row of several
// blocks have places of their own in global memory, which a kernel reads that starts after the first.
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/rows/long_rows.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {
namespace {

/// The sum over the threads of a block, in the first of them.
template <typename Value>
__device__ Value sum_over_block(Value sum) {
    constexpr int warps = threads_of_sell_block / 32;
    __shared__ Value sums[warps];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return sum;
    for (int warp = 1; warp < warps; ++warp) sum += sums[warp];
    return sum;
}

template <typename Rows, typename Sell, typename Value>
__global__ void __launch_bounds__(threads_of_sell_block, Rows::resident_blocks)
    multiply_by_lengths(const __grid_constant__ Sell sell, TargetRows target, const Value* __restrict__ x,
                        Value* __restrict__ y, Value* __restrict__ sums, bool accumulate) {
    const auto parts = static_cast<unsigned>(sell.parts.size());
    const auto load = loads_of_block(sell.values);
    if (blockIdx.x >= parts) {
        const auto run = Rows::run_of_row(sell, Offset{blockIdx.x - parts} * threads_of_sell_block + threadIdx.x);
        if (run.row < 0) return;
        const Value sum = multiply_run<Rows>(sell, run, x, load);
        write_result(y + target[run.row], sum, accumulate);
        return;
    }
    const SellPart part = sell.parts[blockIdx.x];
    const auto run = Rows::run_of_part(sell, part, static_cast<int>(threadIdx.x));
    const Value sum = sum_over_block(multiply_run<Rows>(sell, run, x, load));
    if (threadIdx.x != 0) return;
    if (part.sum >= 0) {
        sums[part.sum] = sum;
    } else {
        write_result(y + target[part.row], sum, accumulate);
    }
}

/// One thread per row of several parts.
template <typename Value>
__global__ void __launch_bounds__(threads_of_sell_block)
    add_sums(ArrayView<SellSums> rows, TargetRows target, const Value* __restrict__ sums, Value* __restrict__ y,
             bool accumulate) {
    const Offset number = static_cast<Offset>(blockIdx.x) * threads_of_sell_block + threadIdx.x;
    if (number >= rows.size()) return;
    const SellSums of = rows[number];
    Value sum = 0;
    for (Index part = 0; part < of.count; ++part) sum += sums[of.first + part];
    write_result(y + target[of.row], sum, accumulate);
}

template <ValueType Value, typename Stored>
class SellByLengths final : public Kernel<Value> {
public:
    SellByLengths(InStorage<Stored, DeviceArray>&& sell, DeviceArray<Index>&& lengths, const SellLongRows& long_rows,
                  std::int64_t bytes, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_(bytes),
          sell_(std::move(sell)),
          rows_(device, rows, "sell"),
          row_lengths_(std::move(lengths)),
          parts_(device, long_rows.parts, "sell parts of long rows"),
          summed_(device, long_rows.sums, "sell rows of several parts"),
          sums_(device.allocate(static_cast<std::size_t>(long_rows.sum_count()) * sizeof(Value), "sell sums")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (sell_.row_count == 0) return;
        const SellWithLengths<InStorage<Stored, ArrayView>> sell{
            view_of(sell_), {row_lengths_.data(), row_lengths_.size()}, {parts_.data(), parts_.size()}};
        const unsigned blocks = static_cast<unsigned>(parts_.size()) + blocks_for(sell_.row_count, threads_of_sell_block);
        with_sell_whole_rows(sell, [&]<typename Rows>(Rows) {
            multiply_by_lengths<Rows><<<blocks, threads_of_sell_block, bytes_of_dictionary(sell.values), stream_>>>(
                sell, rows_.view(), x, y, sums_.as<Value>(), accumulate);
        });
        check_launch("sell");
        if (summed_.size() == 0) return;
        add_sums<<<blocks_for(summed_.size(), threads_of_sell_block), threads_of_sell_block, 0, stream_>>>(
            {summed_.data(), summed_.size()}, rows_.view(), sums_.as<const Value>(), y, accumulate);
        check_launch("sell sums");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    std::int64_t bytes_;
    InStorage<Stored, DeviceArray> sell_;
    OwnedTargetRows rows_;
    DeviceArray<Index> row_lengths_;
    DeviceArray<SellPart> parts_;
    DeviceArray<SellSums> summed_;
    DeviceMemory sums_;  // of the parts of rows of several parts
};

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> kernel_by_lengths(RowArraysOnGpu<Value>&& slices, LengthsOnGpu&& lengths,
                                                 const HostArray<Index>& first_columns, std::int64_t bytes,
                                                 std::span<const Index> rows_of_y, Device& device) {
    return with_alternative(slices.arrays, [&]<typename OnGpu>(OnGpu& sell) -> std::unique_ptr<Kernel<Value>> {
        if constexpr (OnGpu::shape.together == RowsTogether::slices) {
            const SellLongRows long_rows = find_long_rows(lengths.here, sell.split_length);
            const std::int64_t own_bytes = bytes_by_rows<Value>(view_of(sell), lengths.here, first_columns, long_rows, bytes);
            return std::make_unique<SellByLengths<Value, InStorage<OnGpu, HostArray>>>(
                std::move(sell), std::move(lengths.there), long_rows, own_bytes, rows_of_y, device);
        } else {
            return nullptr;
        }
    });
}

template std::unique_ptr<Kernel<float>> kernel_by_lengths(RowArraysOnGpu<float>&&, LengthsOnGpu&&, const HostArray<Index>&,
                                                          std::int64_t, std::span<const Index>, Device&);
template std::unique_ptr<Kernel<double>> kernel_by_lengths(RowArraysOnGpu<double>&&, LengthsOnGpu&&, const HostArray<Index>&,
                                                           std::int64_t, std::span<const Index>, Device&);

}  // namespace workbench
