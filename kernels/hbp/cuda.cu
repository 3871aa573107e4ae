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
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/hbp/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_size;
constexpr int batches_in_flight = hbp_batches_in_flight;
constexpr int blocks_per_processor = 3;  // more would leave too few registers for that many rows of a lane

template <typename Value, typename ColumnIndex>
struct TilesView {
    Index tiles = 0;
    const Index* tile_batches = nullptr;
    const Index* tile_columns = nullptr;
    const Offset* begin_ptr = nullptr;
    const Index* batch_rows = nullptr;
    const std::uint32_t* zero_row = nullptr;
    const ColumnIndex* columns = nullptr;
    const Value* data = nullptr;
    const std::uint8_t* add_sign = nullptr;
    const Index* output_order = nullptr;
};

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
__device__ __forceinline__ StoredEntry<Value, ColumnIndex> entry_at(const TilesView<Value, ColumnIndex>& view, bool there,
                                                                    Offset place) {
    if (!there) return {};
    return {true, place, __ldcs(view.add_sign + place), __ldcs(view.data + place), __ldcs(view.columns + place)};
}

/// Batches first .. first + batches_in_flight - 1, as far as they are before `end`. The next entry of a row is known only when
/// the distance of the present one has come: what hides the wait are rows of other batches, whose loads are under way together.
template <typename Value, typename ColumnIndex>
__device__ __forceinline__ void multiply_batches(const TilesView<Value, ColumnIndex>& view, Index first, Index end, int lane,
                                                 const Value* __restrict__ x, Value* __restrict__ results) {
    StoredEntry<Value, ColumnIndex> entries[batches_in_flight];
    Value sums[batches_in_flight] = {};
    Index targets[batches_in_flight];
#pragma unroll
    for (int i = 0; i < batches_in_flight; ++i) {
        const Index batch = min(first + i, end - 1);
        const std::uint32_t zero_row = first + i < end ? view.zero_row[batch] : ~0U;
        const Index stored = view.batch_rows[batch] + lane;
        const bool is_row = first + i < end && stored < view.batch_rows[batch + 1];
        targets[i] = is_row ? view.output_order[stored] : -1;
        const int lanes_before = __popc(~zero_row & ((1U << lane) - 1U));
        entries[i] = entry_at(view, (zero_row >> lane & 1U) == 0, view.begin_ptr[batch] + lanes_before);
    }
    for (bool more = true; more;) {
        more = false;
        Value x_of_entries[batches_in_flight];
#pragma unroll
        for (int i = 0; i < batches_in_flight; ++i) x_of_entries[i] = entries[i].there ? x[entries[i].column] : Value{0};
#pragma unroll
        for (int i = 0; i < batches_in_flight; ++i) {
            const StoredEntry<Value, ColumnIndex> entry = entries[i];
            entries[i] = entry_at(view, entry.distance != 0, entry.place + entry.distance);
            sums[i] += entry.value * x_of_entries[i];
            more = more || entries[i].there;
        }
    }
#pragma unroll
    for (int i = 0; i < batches_in_flight; ++i) {
        if (targets[i] >= 0) results[targets[i]] = sums[i];
    }
}

template <typename Value, typename ColumnIndex>
__device__ __forceinline__ void multiply_tile(const TilesView<Value, ColumnIndex>& view, Offset tile, int lane,
                                              const Value* __restrict__ x, Value* __restrict__ results) {
    const Value* const x_of_tile = x + view.tile_columns[tile];
    const Index end_batch = view.tile_batches[tile + 1];
    for (Index batch = view.tile_batches[tile]; batch < end_batch; batch += batches_in_flight) {
        multiply_batches(view, batch, end_batch, lane, x_of_tile, results);
    }
}

/// The next tile that no warp has, for the whole warp.
__device__ __forceinline__ Offset claim_tile(unsigned* counter, int lane) {
    unsigned claimed = 0;
    if (lane == 0) claimed = atomicAdd(counter, 1U);
    return __shfl_sync(~0U, claimed, 0);
}

/// The first `dealt` tiles are dealt to the warps in turn. claims: the others are claimed.
template <bool claims, typename Value, typename ColumnIndex>
__global__ void __launch_bounds__(threads_per_block, blocks_per_processor)
    multiply_tiles(TilesView<Value, ColumnIndex> view, Index dealt, unsigned* __restrict__ counter, const Value* __restrict__ x,
                   Value* __restrict__ results) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / warp_size;
    const int warps = static_cast<int>(gridDim.x) * warps_per_block;
    for (Offset tile = warp; tile < dealt; tile += warps) multiply_tile(view, tile, lane, x, results);
    if constexpr (claims) {
        for (Offset tile = dealt + claim_tile(counter, lane); tile < view.tiles; tile = dealt + claim_tile(counter, lane)) {
            multiply_tile(view, tile, lane, x, results);
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
    HbpKernel(const HbpLayout<Value>& layout, const std::vector<ColumnIndex>& columns, Index dealt, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          tiles_(layout.tile_count()),
          dealt_(dealt),
          bytes_of_product_(layout.bytes_of_product()),
          tile_batches_(to_device(device, std::span(layout.tile_batches), "HBP batches of tiles")),
          tile_columns_(to_device(device, std::span(layout.tile_columns), "HBP columns of tiles")),
          begin_ptr_(to_device(device, std::span(layout.begin_ptr), "HBP first entries")),
          batch_rows_(to_device(device, std::span(layout.batch_rows), "HBP rows of batches")),
          zero_row_(to_device(device, std::span(layout.zero_row), "HBP rows without entries")),
          columns_(to_device(device, std::span(columns), "HBP column indices")),
          data_(to_device(device, std::span(layout.data), "HBP values")),
          add_sign_(to_device(device, std::span(layout.add_sign), "HBP distances")),
          output_order_(to_device(device, std::span(layout.output_order), "HBP output order")),
          result_offsets_(to_device(device, std::span(layout.result_offsets), "HBP results of rows")),
          results_(device.allocate(layout.output_order.size() * sizeof(Value), "HBP tile results")),
          counter_(device.allocate(sizeof(unsigned), "HBP tile counter")) {
        int resident = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, multiply_tiles<claims, Value, ColumnIndex>,
                                                                 threads_per_block, 0),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        const Offset blocks = (Offset{tiles_} + warps_per_block - 1) / warps_per_block;
        blocks_ = static_cast<unsigned>(std::min<Offset>(blocks, Offset{resident} * device.properties().processors));
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        if (tiles_ > 0) multiply(x);
        merge_results<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, result_offsets_.as<Index>(), results_.as<Value>(), y, accumulate);
        check_launch("hbp merge");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    void multiply(const Value* x) {
        if constexpr (claims) {
            check_cuda(cudaMemsetAsync(counter_.address(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
        }
        const TilesView<Value, ColumnIndex> view{tiles_,
                                                 tile_batches_.as<Index>(),
                                                 tile_columns_.as<Index>(),
                                                 begin_ptr_.as<Offset>(),
                                                 batch_rows_.as<Index>(),
                                                 zero_row_.as<std::uint32_t>(),
                                                 columns_.as<ColumnIndex>(),
                                                 data_.as<Value>(),
                                                 add_sign_.as<std::uint8_t>(),
                                                 output_order_.as<Index>()};
        multiply_tiles<claims>
            <<<blocks_, threads_per_block, 0, stream_>>>(view, dealt_, counter_.as<unsigned>(), x, results_.as<Value>());
        check_launch("hbp tiles");
    }

    cudaStream_t stream_;
    Index rows_;
    Index tiles_;
    Index dealt_;
    std::int64_t bytes_of_product_;
    DeviceMemory tile_batches_;
    DeviceMemory tile_columns_;
    DeviceMemory begin_ptr_;
    DeviceMemory batch_rows_;
    DeviceMemory zero_row_;
    DeviceMemory columns_;
    DeviceMemory data_;
    DeviceMemory add_sign_;
    DeviceMemory output_order_;
    DeviceMemory result_offsets_;
    DeviceMemory results_;
    DeviceMemory counter_;
    unsigned blocks_ = 0;
};

enum class Allocation { fixed, competitive, mixed };

template <ValueType Value, Allocation allocation>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& hbp = dynamic_cast<const HbpLayout<Value>&>(layout);
    const auto dealt = [&hbp] {
        switch (allocation) {
            case Allocation::fixed: return hbp.tile_count();
            case Allocation::competitive: return Index{0};
            case Allocation::mixed: return hbp.fixed_tiles;
        }
        return Index{0};
    };
    return std::visit(
        [&]<typename ColumnIndex>(const std::vector<ColumnIndex>& columns) -> std::unique_ptr<Kernel<Value>> {
            constexpr bool claims = allocation != Allocation::fixed;
            return std::make_unique<HbpKernel<Value, ColumnIndex, claims>>(hbp, columns, dealt(), device);
        },
        hbp.column_indices);
}

template <Allocation allocation>
constexpr ForEachPrecision<PrepareKernel> both{prepare<float, allocation>, prepare<double, allocation>};

}  // namespace

std::vector<KernelEntry> hbp_cuda_kernels() {
    return {
        {"fixed", Backend::cuda, "a warp a tile, the tiles dealt to the warps in turn; then results merged per row",
         both<Allocation::fixed>},
        {"competitive", Backend::cuda, "a warp a tile, claimed from a counter; then results merged per row",
         both<Allocation::competitive>},
        {"mixed", Backend::cuda, "fixed_share of the tiles dealt, the rest claimed (the paper's mixed execution)",
         both<Allocation::mixed>},
    };
}

}  // namespace workbench
