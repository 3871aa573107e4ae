// Sliced ELL on a GPU. With threads_per_row as a schedule of rows (common/schedule/device_rows.cuh); without it, in blocks that
// are shared out beforehand (blocks.hpp).
//
// Races. The warps that share a unit of rows write their sums to places of their own in shared memory, and one of them reads
// these after a barrier; each row of y is then written by one thread. The parts of a unit that has several blocks are written
// to places of their own in global memory and read by a kernel that starts after the first.
#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/sell/blocks.hpp"
#include "kernels/sell/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_of_block = warps_of_sell_block * 32;

template <typename Rows, typename Sell, typename Value>
__global__ void __launch_bounds__(threads_of_block, Rows::entries_in_flight > 4 ? 4 : 6)
    multiply_blocks(const __grid_constant__ Sell sell, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y,
                    Value* __restrict__ parts, bool accumulate) {
    __shared__ Value sums[warps_of_sell_block][32];
    const SellBlock block = sell.blocks[blockIdx.x];
    const auto run = Rows::run_of(sell, block, static_cast<int>(threadIdx.x));
    Value sum = run.row >= 0 ? multiply_run<Rows>(sell, run, x, StreamingLoad{}) : Value{0};
    if (block.warps > 1) {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        sums[warp][lane] = sum;
        __syncthreads();
        if (warp % block.warps != 0) return;
        for (int other = 1; other < block.warps; ++other) sum += sums[warp + other][lane];
        if (block.part >= 0) {
            parts[Offset{block.part} * sell_unit + lane] = sum;
            return;
        }
    }
    if (run.row >= 0) write_result(y + target[run.row], sum, accumulate);
}

/// A warp a unit, a lane a row.
template <typename Value>
__global__ void __launch_bounds__(threads_of_block)
    add_parts(ArrayView<SellParts> units, Index rows, TargetRows target, const Value* __restrict__ parts, Value* __restrict__ y,
              bool accumulate) {
    const Offset number = static_cast<Offset>(blockIdx.x) * warps_of_sell_block + threadIdx.x / 32;
    if (number >= units.size()) return;
    const SellParts unit = units[number];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const Offset row = Offset{unit.unit} * sell_unit + lane;
    if (row >= rows) return;
    Value sum = 0;
    for (Index part = 0; part < unit.count; ++part) sum += parts[Offset{unit.first + part} * sell_unit + lane];
    write_result(y + target[static_cast<Index>(row)], sum, accumulate);
}

template <ValueType Value, int in_flight>
class SellInBlocksKernel final : public Kernel<Value> {
public:
    SellInBlocksKernel(const SellLayout<Value>& layout, const SellBlocks& blocks, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_(layout.bytes_in_blocks(blocks)),
          sell_(copy_to(device, layout.stored(), "sell")),
          rows_(device, rows, "sell"),
          unit_steps_(device, blocks.unit_steps, "sell steps of the units"),
          blocks_(device, blocks.blocks, "sell blocks"),
          split_units_(device, blocks.parts, "sell units with several blocks"),
          parts_(device.allocate(static_cast<std::size_t>(blocks.part_count()) * sell_unit * sizeof(Value), "sell parts")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (blocks_.size() == 0) return;
        const SellInBlocks<Sell<Value, ArrayView>> sell{
            view_of(sell_), {unit_steps_.data(), unit_steps_.size()}, {blocks_.data(), blocks_.size()}};
        with_sell_block_rows<in_flight>(sell_.slice_height, [&]<typename Rows>(Rows) {
            multiply_blocks<Rows><<<static_cast<unsigned>(blocks_.size()), threads_of_block, 0, stream_>>>(
                sell, rows_.view(), x, y, parts_.as<Value>(), accumulate);
        });
        check_launch("sell blocks");
        if (split_units_.size() == 0) return;
        add_parts<<<blocks_for(split_units_.size(), warps_of_sell_block), threads_of_block, 0, stream_>>>(
            {split_units_.data(), split_units_.size()}, sell_.row_count, rows_.view(), parts_.as<const Value>(), y, accumulate);
        check_launch("sell parts");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    std::int64_t bytes_;
    Sell<Value, DeviceArray> sell_;
    OwnedTargetRows rows_;
    DeviceArray<Index> unit_steps_;
    DeviceArray<SellBlock> blocks_;
    DeviceArray<SellParts> split_units_;
    DeviceMemory parts_;  // [parts * 32]
};

template <ValueType Value, int in_flight, int steps>
std::unique_ptr<Kernel<Value>> prepare_share(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    const auto& sell = dynamic_cast<const SellLayout<Value>&>(layout);
    if (sell.threads_per_row > 0) {
        if (rows.empty()) return prepare_device_rows<SellThreads, Value, SellLayout<Value>>(layout, device);
        return prepare_device_share<SellThreads, Value, SellLayout<Value>>(layout, rows, device);
    }
    return std::make_unique<SellInBlocksKernel<Value, in_flight>>(sell, share_out(sell.row_lengths(), sell.split_steps, steps),
                                                                  rows, device);
}

template <ValueType Value, int in_flight, int steps>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return prepare_share<Value, in_flight, steps>(layout, {}, device);
}

template <int in_flight, int steps>
KernelEntry variant(std::string name) {
    return {std::move(name),
            Backend::cuda,
            "a lane a row, and several warps to rows that are long; or threads_per_row",
            {prepare<float, in_flight, steps>, prepare<double, in_flight, steps>},
            {prepare_share<float, in_flight, steps>, prepare_share<double, in_flight, steps>}};
}

}  // namespace

std::vector<KernelEntry> sell_cuda_kernels() {
    return {variant<4, 32>("slices"), variant<4, 16>("s16_4"), variant<4, 64>("s64_4"),     variant<8, 16>("s16_8"),
            variant<8, 32>("s32_8"),  variant<8, 64>("s64_8"), variant<8, 1024>("s1024_8"), variant<4, 1024>("s1024_4")};
}

}  // namespace workbench
