// ELL on a GPU, after Wikberg (2025), chapter 5. `rows` and `reduce` write each row of y from exactly one thread, so that
// threads cannot race in global memory; `reduce` meets at a barrier between writing shared memory and reading it. `atomic`
// zeroes y on the stream and adds to it atomically.
#include <cstdint>

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/lanes.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/device_ell.cuh"
#include "kernels/ell/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;
constexpr int rows_per_block = 32;  // of reduce_columns: a warp reads the k-th slots of as many rows
constexpr int most_groups = threads_per_block / rows_per_block;

/// `Lanes` neighbouring threads share a row, and its slots in turn. With one, it is the thread a row of both orders.
template <int Lanes, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply_rows(EllView<Value> slots, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const Offset row = thread / Lanes;
    const int lane = static_cast<int>(thread % Lanes);
    Value sum = row < slots.row_count ? slots.template multiply<entries_in_flight>(row, lane, Lanes, x) : Value{0};
    // Outside the branch: all lanes of a warp take part, those past the last row too.
    sum = sum_over_lanes<Lanes>(sum);
    if (lane == 0 && row < slots.row_count) write_result(y + row, sum, accumulate);
}

/// Column by column: warp g of a block takes the slots g, g + groups, ... of its 32 rows; the first warp sums up.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    reduce_columns(EllView<Value> slots, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    __shared__ Value sums[most_groups][rows_per_block];
    const int lane = static_cast<int>(threadIdx.x);
    const int group = static_cast<int>(threadIdx.y);
    const int groups = static_cast<int>(blockDim.y);
    const Offset row = static_cast<Offset>(blockIdx.x) * rows_per_block + lane;
    const bool present = row < slots.row_count && group < slots.width;
    sums[group][lane] = present ? slots.template multiply<entries_in_flight>(row, group, groups, x) : Value{0};
    __syncthreads();
    if (group != 0 || row >= slots.row_count) return;
    Value sum = 0;
    for (int other = 0; other < groups; ++other) sum += sums[other][lane];
    write_result(y + row, sum, accumulate);
}

/// One thread a slot. Unsigned: 32 bits where they suffice, because dividing by 64 takes many times as long.
template <typename Unsigned, bool row_major, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    add_slots(EllView<Value> slots, const Value* __restrict__ x, Value* __restrict__ y) {
    const auto slot = static_cast<Unsigned>(blockIdx.x) * threads_per_block + threadIdx.x;
    const auto rows = static_cast<Unsigned>(slots.row_count);
    const auto width = static_cast<Unsigned>(slots.width);
    if (slot >= rows * width) return;
    const Index column = __ldcs(slots.columns + slot);
    if (column < 0) return;
    atomicAdd(y + (row_major ? slot / width : slot % rows), __ldcs(slots.values + slot) * x[column]);
}

template <typename Value>
using MultiplyRows = void (*)(EllView<Value>, const Value*, Value*, bool);

template <typename Value>
MultiplyRows<Value> multiply_rows_with(int lanes) {
    return with_lanes<1>(lanes, [](auto known) -> MultiplyRows<Value> { return multiply_rows<known, Value>; });
}

template <typename Value>
using AddSlots = void (*)(EllView<Value>, const Value*, Value*);

/// The last block may reach past the last slot: its threads must have a number, too.
template <typename Value>
AddSlots<Value> add_slots_for(EllOrder order, Offset slots) {
    const bool row_major = order == EllOrder::row_major;
    if (slots + threads_per_block <= Offset{UINT32_MAX}) {
        return row_major ? add_slots<std::uint32_t, true, Value> : add_slots<std::uint32_t, false, Value>;
    }
    return row_major ? add_slots<std::uint64_t, true, Value> : add_slots<std::uint64_t, false, Value>;
}

template <ValueType Value>
class EllKernel : public Kernel<Value> {
public:
    EllKernel(const EllLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), order_(layout.slots.order), slots_(device, layout.slots, "ELL") {}

protected:
    cudaStream_t stream_;
    EllOrder order_;
    DeviceEll<Value> slots_;
};

template <ValueType Value>
class EllRows final : public EllKernel<Value> {
public:
    EllRows(const EllLayout<Value>& layout, Device& device, int lanes = 1) : EllKernel<Value>(layout, device), lanes_(lanes) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const EllView<Value> slots = this->slots_.view();
        if (slots.row_count == 0) return;
        const unsigned blocks = blocks_for(Offset{slots.row_count} * lanes_, threads_per_block);
        multiply_rows_with<Value>(lanes_)<<<blocks, threads_per_block, 0, this->stream_>>>(slots, x, y, accumulate);
        check_launch("ell rows");
    }

private:
    int lanes_;
};

template <ValueType Value>
class EllReduceColumns final : public EllKernel<Value> {
public:
    using EllKernel<Value>::EllKernel;

    void run(const Value* x, Value* y, bool accumulate) override {
        const EllView<Value> slots = this->slots_.view();
        if (slots.row_count == 0) return;
        int groups = 1;
        while (groups < most_groups && 2 * groups < slots.width) groups *= 2;
        const dim3 threads(rows_per_block, static_cast<unsigned>(groups));
        reduce_columns<<<blocks_for(slots.row_count, rows_per_block), threads, 0, this->stream_>>>(slots, x, y, accumulate);
        check_launch("ell reduce");
    }
};

template <ValueType Value>
class EllAtomic final : public EllKernel<Value> {
public:
    using EllKernel<Value>::EllKernel;

    void run(const Value* x, Value* y, bool accumulate) override {
        const EllView<Value> slots = this->slots_.view();
        if (slots.row_count == 0) return;
        if (!accumulate) zero_result(y, slots.row_count, this->stream_);
        const Offset count = static_cast<Offset>(slots.row_count) * slots.width;
        if (count == 0) return;
        add_slots_for<Value>(this->order_,
                             count)<<<blocks_for(count, threads_per_block), threads_per_block, 0, this->stream_>>>(slots, x, y);
        check_launch("ell atomic");
    }
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_reduce(const Layout<Value>& layout, Device& device) {
    const auto& ell = dynamic_cast<const EllLayout<Value>&>(layout);
    if (ell.slots.order == EllOrder::column_major) return std::make_unique<EllReduceColumns<Value>>(ell, device);
    return std::make_unique<EllRows<Value>>(ell, device, lanes_for(1, ell.slots.width));
}

}  // namespace

std::vector<KernelEntry> ell_cuda_kernels() {
    return {
        {"rows", Backend::cuda, "one thread a row", prepare_as<EllRows, EllLayout>},
        {"reduce",
         Backend::cuda,
         "several threads a row, by its width, whose sums meet in shared memory or by shuffles",
         {prepare_reduce<float>, prepare_reduce<double>}},
        {"atomic", Backend::cuda, "one thread a slot, which adds to y atomically", prepare_as<EllAtomic, EllLayout>},
    };
}

}  // namespace workbench
