// HBP on a GPU, in two steps: a warp a tile stores a result for each row of its tile, then a thread a row of the matrix adds up
// the results of that row, which are neighbours. As many warps as the device holds at a time go through the tiles: through
// those dealt to them, then through those that they claim from a counter.
//
// Races in global memory. A tile is dealt to one warp or claimed by one: the counter is only touched by atomicAdd, after it has
// been set to 0 on the same stream. Each stored row has a result of its own, written by one lane. The second step starts after
// the first has ended, and writes each row of y by one thread.
#include <algorithm>
#include <cstdint>

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/loads.cuh"
#include "kernels/common/device/recording.cuh"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/hbp/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / hbp_lanes;
constexpr int batches_in_flight = hbp_batches_in_flight;
constexpr int blocks_per_processor = 3;  // more would leave too few registers for that many rows of a lane

/// An entry of a row, and whether there is one.
template <typename Value, typename ColumnIndex>
struct StoredEntry {
    bool there = false;
    Offset place = 0;
    int distance = 0;  // to the next one; 0: this is the last
    Value value = 0;
    ColumnIndex column = 0;
};

template <typename Value, typename ColumnIndex>
__device__ __forceinline__ StoredEntry<Value, ColumnIndex> entry_at(const Hbp<Value, ColumnIndex, ArrayView>& hbp, bool there,
                                                                    Offset place, const auto& load) {
    if (!there) return {};
    return {true, place, load(hbp.add_sign.data() + place), load(hbp.data.data() + place),
            load(hbp.column_indices.data() + place)};
}

/// Batches first .. first + batches_in_flight - 1, as far as they are before `end`. The next entry of a row is known only when
/// the distance of the present one has come: what hides the wait are rows of other batches, whose loads are under way together.
template <typename Value, typename ColumnIndex>
__device__ __forceinline__ void multiply_batches(const Hbp<Value, ColumnIndex, ArrayView>& hbp, Index first, Index end,
                                                 int lane, const auto& load, const Value* __restrict__ x,
                                                 Value* __restrict__ results) {
    StoredEntry<Value, ColumnIndex> entries[batches_in_flight];
    Value sums[batches_in_flight] = {};
    Index targets[batches_in_flight];
#pragma unroll
    for (int i = 0; i < batches_in_flight; ++i) {
        const HbpLane row = lane_of_batch(hbp, first + i, end, lane);
        targets[i] = row.has_row ? hbp.output_order[row.stored] : -1;
        entries[i] = entry_at(hbp, row.has_entries, row.entry, load);
    }
    for (bool more = true; more;) {
        more = false;
        Value x_of_entries[batches_in_flight];
#pragma unroll
        for (int i = 0; i < batches_in_flight; ++i) x_of_entries[i] = entries[i].there ? x[entries[i].column] : Value{0};
#pragma unroll
        for (int i = 0; i < batches_in_flight; ++i) {
            const StoredEntry<Value, ColumnIndex> entry = entries[i];
            entries[i] = entry_at(hbp, entry.distance != 0, entry.place + entry.distance, load);
            sums[i] += entry.value * x_of_entries[i];
            more = more || entries[i].there;
        }
    }
#pragma unroll
    for (int i = 0; i < batches_in_flight; ++i) {
        if (targets[i] >= 0) results[targets[i]] = sums[i];
    }
}

template <typename Value>
__device__ __forceinline__ void multiply_tile(const auto& hbp, Offset tile, int lane, const auto& load,
                                              const Value* __restrict__ x, Value* __restrict__ results) {
    const Value* const x_of_tile = x + hbp.tile_columns[tile];
    const Index end_batch = hbp.tile_batches[tile + 1];
    for (Index batch = hbp.tile_batches[tile]; batch < end_batch; batch += batches_in_flight) {
        multiply_batches(hbp, batch, end_batch, lane, load, x_of_tile, results);
    }
}

/// The next tile that no warp has, for the whole warp.
__device__ __forceinline__ Offset claim_tile(unsigned* counter, int lane) {
    unsigned claimed = 0;
    if (lane == 0) claimed = atomicAdd(counter, 1U);
    return __shfl_sync(~0U, claimed, 0);
}

/// The first `dealt` tiles are dealt to the warps in turn. claims: the others are claimed.
template <bool claims, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, blocks_per_processor)
    multiply_tiles(const __grid_constant__ Stored hbp, const Load load, Index dealt, unsigned* __restrict__ counter,
                   const Value* __restrict__ x, Value* __restrict__ results) {
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const int warp = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / hbp_lanes;
    const int warps = static_cast<int>(gridDim.x) * warps_per_block;
    for (Offset tile = warp; tile < dealt; tile += warps) multiply_tile(hbp, tile, lane, load, x, results);
    if constexpr (claims) {
        const Index tiles = hbp.tile_count();
        for (Offset tile = dealt + claim_tile(counter, lane); tile < tiles; tile = dealt + claim_tile(counter, lane)) {
            multiply_tile(hbp, tile, lane, load, x, results);
        }
    }
}

template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    merge_results(Index rows, const Index* __restrict__ result_offsets, const Value* __restrict__ results,
                  Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    Value sum = 0;
    const Index end = result_offsets[row + 1];
    for (Index i = result_offsets[row]; i < end; ++i) sum += results[i];
    write_result(y + row, sum, accumulate);
}

template <ValueType Value, typename ColumnIndex, bool claims>
class HbpKernel final : public Kernel<Value> {
public:
    using Stored = Hbp<Value, ColumnIndex, HostArray>;

    HbpKernel(const HbpLayout<Value>& layout, const Stored& stored, Index dealt, Device& device)
        : stream_(cuda_device(device).stream()),
          dealt_(dealt),
          bytes_of_product_(layout.bytes_of_product()),
          hbp_(copy_to(device, stored, "hbp")),
          results_(device.allocate(stored.output_order.size() * sizeof(Value), "hbp tile results")),
          counter_(device.allocate(sizeof(unsigned), "hbp tile counter")) {
        int resident = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, multiply_tiles<claims, StreamingLoad, Hbp<Value, ColumnIndex, ArrayView>, Value>,
                       threads_per_block, 0),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        const Offset blocks = (Offset{stored.tile_count()} + warps_per_block - 1) / warps_per_block;
        blocks_ = static_cast<unsigned>(std::min<Offset>(blocks, Offset{resident} * device.properties().processors));
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index rows = hbp_.row_count;
        if (rows == 0) return;
        if (hbp_.tile_count() > 0) multiply(x);
        merge_results<<<blocks_for(rows, threads_per_block), threads_per_block, 0, stream_>>>(
            rows, hbp_.result_offsets.data(), results_.as<Value>(), y, accumulate);
        check_launch("hbp merge");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    void multiply(const Value* x) {
        if constexpr (claims) {
            check_cuda(cudaMemsetAsync(counter_.address(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
        }
        multiply_tiles<claims><<<blocks_, threads_per_block, 0, stream_>>>(view_of(hbp_), StreamingLoad{}, dealt_,
                                                                           counter_.as<unsigned>(), x, results_.as<Value>());
        check_launch("hbp tiles");
    }

    cudaStream_t stream_;
    Index dealt_;
    std::int64_t bytes_of_product_;
    Hbp<Value, ColumnIndex, DeviceArray> hbp_;
    DeviceMemory results_;
    DeviceMemory counter_;
    unsigned blocks_ = 0;
};

enum class Allocation { fixed, competitive, mixed };

template <ValueType Value, Allocation allocation>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const HbpLayout<Value>&>(layout);
    return std::visit(
        [&]<typename ColumnIndex>(const Hbp<Value, ColumnIndex, HostArray>& hbp) -> std::unique_ptr<Kernel<Value>> {
            constexpr bool claims = allocation != Allocation::fixed;
            const Index dealt = allocation == Allocation::fixed         ? hbp.tile_count()
                                : allocation == Allocation::competitive ? 0
                                                                        : hbp.fixed_tiles;
            return std::make_unique<HbpKernel<Value, ColumnIndex, claims>>(own, hbp, dealt, device);
        },
        own.stored);
}

template <Allocation allocation>
ForEachPrecision<PrepareKernel> both() {
    return {prepare<float, allocation>, prepare<double, allocation>};
}

}  // namespace

std::vector<KernelEntry> hbp_cuda_kernels() {
    return {
        {"fixed", Backend::cuda, "a warp a tile, the tiles dealt to the warps in turn; then results merged per row",
         both<Allocation::fixed>()},
        {"competitive", Backend::cuda, "a warp a tile, claimed from a counter; then results merged per row",
         both<Allocation::competitive>()},
        {"mixed", Backend::cuda, "fixed_share of the tiles dealt, the rest claimed (the paper's mixed execution)",
         both<Allocation::mixed>()},
    };
}

std::vector<Recorded> record_hbp_reads(const HbpLayout<double>& layout, Device& device) {
    return std::visit(
        [&](const auto& stored) {
            const auto hbp = copy_to(device, stored, "hbp");
            const unsigned blocks = blocks_for(stored.tile_count(), warps_per_block);
            Recording recording(device, hbp.data, Offset{blocks} * threads_per_block);
            const DeviceArray<double> x(device, std::vector<double>(stored.column_count), "x");
            const DeviceMemory results = device.allocate(stored.output_order.size() * sizeof(double), "hbp tile results");
            multiply_tiles<false><<<blocks, threads_per_block, 0, cuda_device(device).stream()>>>(
                view_of(hbp), recording.load(), stored.tile_count(), nullptr, x.data(), results.as<double>());
            check_launch("hbp recorded");
            return recording.read();
        },
        layout.stored);
}

}  // namespace workbench
