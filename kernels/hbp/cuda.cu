// HBP on a GPU, in two steps: a warp a tile writes the rows of y that have no other tile and stores partial results of the
// others; then a warp adds up those of a group of rows. As many warps as the device holds at a time go through the tiles:
// through those dealt to them, then through those that they claim from a counter.
//
// The entries of a tile are a stream, which a warp takes in pieces: it multiplies neighbours by x whatever rows they belong to,
// with the loads of a whole piece under way at once, and puts the products into shared memory. There each lane follows its row
// by add_sign, while the next piece is on its way. So neither the distance to the next entry nor the longest row of a batch
// holds up what comes from memory.
//
// Races in global memory. A tile is dealt to one warp or claimed by one: the counter is only touched by atomicAdd, after it has
// been set to 0 on the same stream. Rows in no tile, rows of y that have one result, and partial results are each written by
// one lane. The second step starts after the first has ended, and writes its rows, which the first does not, by one lane each.
// In shared memory every warp has a part of its own, and waits for its lanes between writing and reading a piece, and again
// before it writes the next.
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
constexpr unsigned all_lanes = ~0U;

/// Entries that a lane loads of a piece, and how many warps a multiprocessor is to hold, which limits registers.
template <int entries, int warps>
struct Size {
    static constexpr int entries_in_flight = entries;
    static constexpr int blocks_per_processor = warps / warps_per_block;
};

/// As many bytes of add_sign as a lane has entries of a piece.
template <int bytes>
struct Signs;
template <>
struct Signs<4> {
    using Word = unsigned;
};
template <>
struct Signs<8> {
    using Word = unsigned long long;
};

/// A piece of a stream: what a warp has in shared memory of it.
template <typename Value, int in_flight>
struct SharedPiece {
    static constexpr int size = in_flight * hbp_lanes;
    typename Signs<in_flight>::Word signs[hbp_lanes];
    Value products[size];

    [[nodiscard]] __device__ int sign(int entry) const { return reinterpret_cast<const std::uint8_t*>(signs)[entry]; }
};

/// A piece on its way: lane l has its entries l, l + 32 ..., and the bytes of add_sign from l * in_flight on.
template <typename Value, typename ColumnIndex, int in_flight>
struct LoadedPiece {
    Value values[in_flight];
    ColumnIndex columns[in_flight];
    typename Signs<in_flight>::Word signs;

    /// Of the piece at `first` of a stream, whose entries are [begin, end) from its address `stream` on. The others are 0 here.
    __device__ __forceinline__ void load(const auto& hbp, Offset stream, int first, int begin, int end, int lane,
                                         const auto& load) {
        using Word = typename Signs<in_flight>::Word;
        const Value* const data = hbp.data.data() + stream;
        const ColumnIndex* const column_indices = hbp.column_indices.data() + stream;
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const int entry = first + u * hbp_lanes + lane;
            const bool there = entry >= begin && entry < end;
            values[u] = there ? load(data + entry) : Value{0};
            columns[u] = there ? load(column_indices + entry) : ColumnIndex{0};
        }
        const int byte = first + lane * in_flight;
        const std::uint8_t* const add_sign = hbp.add_sign.data() + stream;
        signs = 0;
        if (stream + byte + in_flight <= hbp.add_sign.size()) {
            if (byte < end) signs = load(reinterpret_cast<const Word*>(add_sign + byte));
        } else {
            for (int i = 0; byte + i < end; ++i) signs |= Word{load(add_sign + byte + i)} << 8 * i;
        }
    }

    /// Multiplies it by x and stores it.
    __device__ __forceinline__ void put(const Value* __restrict__ x, int lane, SharedPiece<Value, in_flight>& shared) const {
        Value x_of_entries[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) x_of_entries[u] = x[columns[u]];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) shared.products[u * hbp_lanes + lane] = values[u] * x_of_entries[u];
        shared.signs[lane] = signs;
    }
};

/// A lane's row of a batch. Places count from the beginning of the stream.
template <typename Value>
struct LaneRow {
    static constexpr int none = 0x7fffffff;
    Index output = hbp_no_output;
    int at = none;  // its next entry
    Value sum = 0;

    template <int in_flight>
    __device__ __forceinline__ void follow(const SharedPiece<Value, in_flight>& shared, int first, int end) {
        while (at < end) {
            const int distance = shared.sign(at - first);
            sum += shared.products[at - first];
            at = distance == 0 ? none : at + distance;
        }
    }

    /// Neighbours with the same output are parts of one row: the first of them writes the sum of all.
    __device__ __forceinline__ void write(int lane, Value* __restrict__ results, Value* __restrict__ y, bool accumulate) {
        const Index before = __shfl_up_sync(all_lanes, output, 1);
        const bool leads = lane == 0 || before != output || output == hbp_no_output;
        const unsigned leaders = __ballot_sync(all_lanes, leads);
        if (leaders != all_lanes) {
            const unsigned later = leaders & ~(all_lanes >> (hbp_lanes - 1 - lane));
            const int end = later == 0 ? hbp_lanes : __ffs(static_cast<int>(later)) - 1;
#pragma unroll
            for (int distance = 1; distance < hbp_lanes; distance *= 2) {
                const Value other = __shfl_down_sync(all_lanes, sum, distance);
                if (lane + distance < end) sum += other;
            }
        }
        if (!leads || output == hbp_no_output) return;
        if (output >= 0) {
            write_result(y + output, sum, accumulate);
        } else {
            results[~output] = sum;
        }
    }
};

/// The batches first .. first + count - 1 of a tile. x is that of its first column.
template <int in_flight, typename Value, typename ColumnIndex>
__device__ __forceinline__ void multiply_stream(const Hbp<Value, ColumnIndex, ArrayView>& hbp, Index first, int count, int lane,
                                                const auto& load, const Value* __restrict__ x, Value* __restrict__ results,
                                                Value* __restrict__ y, bool accumulate, SharedPiece<Value, in_flight>& shared) {
    constexpr int size = SharedPiece<Value, in_flight>::size;
    // Lane i knows where batch first + i begins; lane `count`, where the last one ends.
    const Index of_lane = first + min(lane, count);
    const Offset begin_of_lane = hbp.begin_ptr[of_lane];
    const Index rows_of_lane = hbp.batch_rows[of_lane];
    const std::uint32_t zero_row_of_lane = hbp.zero_row[lane < count ? of_lane : first];
    const Offset stream = hbp_stream_begin(__shfl_sync(all_lanes, begin_of_lane, 0));
    const int place_of_lane = static_cast<int>(begin_of_lane - stream);
    const int begin = __shfl_sync(all_lanes, place_of_lane, 0);
    const int end = __shfl_sync(all_lanes, place_of_lane, count);

    LaneRow<Value> row;
    int batch = -1;
    int end_of_batch = 0;
    const auto next_batch = [&] {
        ++batch;
        const std::uint32_t zero_row = __shfl_sync(all_lanes, zero_row_of_lane, batch);
        const int begin_of_batch = __shfl_sync(all_lanes, place_of_lane, batch);
        end_of_batch = __shfl_sync(all_lanes, place_of_lane, batch + 1);
        const Index stored = __shfl_sync(all_lanes, rows_of_lane, batch) + lane;
        const Index end_of_rows = __shfl_sync(all_lanes, rows_of_lane, batch + 1);
        row.output = stored < end_of_rows ? hbp.output_order[stored] : hbp_no_output;
        row.at = hbp_has_entries(zero_row, lane) ? begin_of_batch + hbp_lanes_before(zero_row, lane) : LaneRow<Value>::none;
        row.sum = 0;
    };

    LoadedPiece<Value, ColumnIndex, in_flight> piece;
    piece.load(hbp, stream, 0, begin, end, lane, load);
    next_batch();
    for (int at = 0;; at += size) {
        if (begin < end) piece.put(x, lane, shared);
        piece.load(hbp, stream, at + size, begin, end, lane, load);
        __syncwarp();
        for (;;) {
            row.follow(shared, at, min(end_of_batch, at + size));
            if (end_of_batch > at + size) break;
            row.write(lane, results, y, accumulate);
            if (batch + 1 == count) {
                __syncwarp();
                return;
            }
            next_batch();
        }
        __syncwarp();
    }
}

template <int in_flight, typename Value>
__device__ __forceinline__ void multiply_tile(const auto& hbp, Offset tile, int lane, const auto& load,
                                              const Value* __restrict__ x, Value* __restrict__ results, Value* __restrict__ y,
                                              bool accumulate, SharedPiece<Value, in_flight>& shared) {
    const Value* const x_of_tile = x + hbp.tile_columns[tile];
    const Index end = hbp.tile_batches[tile + 1];
    for (Index batch = hbp.tile_batches[tile]; batch < end; batch += hbp_batches_of_stream) {
        multiply_stream(hbp, batch, min(hbp_batches_of_stream, end - batch), lane, load, x_of_tile, results, y, accumulate,
                        shared);
    }
}

/// The next tile that no warp has, for the whole warp.
__device__ __forceinline__ Offset claim_tile(unsigned* counter, int lane) {
    unsigned claimed = 0;
    if (lane == 0) claimed = atomicAdd(counter, 1U);
    return __shfl_sync(all_lanes, claimed, 0);
}

/// The first `dealt` tiles are dealt to the warps in turn. claims: the others are claimed.
template <typename Size, bool claims, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, Size::blocks_per_processor)
    multiply_tiles(const __grid_constant__ Stored hbp, const Load load, Index dealt, unsigned* __restrict__ counter,
                   const Value* __restrict__ x, Value* __restrict__ results, Value* __restrict__ y, bool accumulate) {
    constexpr int in_flight = Size::entries_in_flight;
    __shared__ SharedPiece<Value, in_flight> of_warps[warps_per_block];
    SharedPiece<Value, in_flight>& shared = of_warps[threadIdx.x / hbp_lanes];
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const int warp = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / hbp_lanes;
    const int warps = static_cast<int>(gridDim.x) * warps_per_block;
    if (!accumulate) {
        for (Offset i = Offset{warp} * hbp_lanes + lane; i < hbp.absent_rows.size(); i += Offset{warps} * hbp_lanes) {
            y[hbp.absent_rows[i]] = 0;
        }
    }
    for (Offset tile = warp; tile < dealt; tile += warps) {
        multiply_tile(hbp, tile, lane, load, x, results, y, accumulate, shared);
    }
    if constexpr (claims) {
        const Index tiles = hbp.tile_count();
        for (Offset tile = dealt + claim_tile(counter, lane); tile < tiles; tile = dealt + claim_tile(counter, lane)) {
            multiply_tile(hbp, tile, lane, load, x, results, y, accumulate, shared);
        }
    }
}

/// A warp a group: a lane a row, or all lanes the only row.
template <typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    merge_results(const __grid_constant__ Stored hbp, const Value* __restrict__ results, Value* __restrict__ y,
                  bool accumulate) {
    constexpr int in_flight = 4;
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const Offset group = (static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x) / hbp_lanes;
    if (group >= hbp.group_count()) return;
    const Index first = hbp.merge_rows[group];
    const int rows = hbp.merge_rows[group + 1] - first;
    const Offset end = hbp.merge_results[group + 1];
    Offset at = hbp.merge_results[group];
    Value sum = 0;
    if (rows == 1) {
        for (at += lane; at < end; at += in_flight * hbp_lanes) {
            Value loaded[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) loaded[u] = at + u * hbp_lanes < end ? results[at + u * hbp_lanes] : Value{0};
#pragma unroll
            for (int u = 0; u < in_flight; ++u) sum += loaded[u];
        }
        __syncwarp();
        for (int distance = hbp_lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(all_lanes, sum, distance);
    } else {
        const int count = lane < rows ? hbp.merged_counts[first + lane] : 0;
        const unsigned before = (1U << lane) - 1;
        for (int k = 0; at < end; k += in_flight) {
            Value loaded[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const bool there = k + u < count;
                const unsigned lanes = __ballot_sync(all_lanes, there);
                loaded[u] = there ? results[at + __popc(lanes & before)] : Value{0};
                at += __popc(lanes);
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) sum += loaded[u];
        }
    }
    if (lane < rows) write_result(y + hbp.merged_rows[first + lane], sum, accumulate);
}

template <ValueType Value, typename ColumnIndex, typename Size, bool claims>
class HbpKernel final : public Kernel<Value> {
public:
    using Stored = Hbp<Value, ColumnIndex, HostArray>;

    HbpKernel(const HbpLayout<Value>& layout, const Stored& stored, Index dealt, Device& device)
        : stream_(cuda_device(device).stream()),
          dealt_(dealt),
          bytes_of_product_(layout.bytes_of_product()),
          hbp_(copy_to(device, stored, "hbp")),
          results_(device.allocate(layout.partial_results() * sizeof(Value), "hbp partial results")),
          counter_(device.allocate(sizeof(unsigned), "hbp tile counter")) {
        int resident = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, multiply_tiles<Size, claims, StreamingLoad, Hbp<Value, ColumnIndex, ArrayView>, Value>,
                       threads_per_block, 0),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        const unsigned blocks = std::max(blocks_for(stored.tile_count(), warps_per_block),
                                         blocks_for(static_cast<Offset>(stored.absent_rows.size()), threads_per_block));
        blocks_ = std::min(blocks, static_cast<unsigned>(resident * device.properties().processors));
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hbp_.row_count == 0) return;
        if constexpr (claims) {
            check_cuda(cudaMemsetAsync(counter_.address(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
        }
        multiply_tiles<Size, claims><<<blocks_, threads_per_block, 0, stream_>>>(
            view_of(hbp_), StreamingLoad{}, dealt_, counter_.as<unsigned>(), x, results_.as<Value>(), y, accumulate);
        check_launch("hbp tiles");
        if (hbp_.group_count() == 0) return;
        merge_results<<<blocks_for(hbp_.group_count(), warps_per_block), threads_per_block, 0, stream_>>>(
            view_of(hbp_), results_.as<Value>(), y, accumulate);
        check_launch("hbp merge");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    cudaStream_t stream_;
    Index dealt_;
    std::int64_t bytes_of_product_;
    Hbp<Value, ColumnIndex, DeviceArray> hbp_;
    DeviceMemory results_;
    DeviceMemory counter_;
    unsigned blocks_ = 0;
};

enum class Allocation { fixed, competitive, mixed };

template <ValueType Value, Allocation allocation, typename Size>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const HbpLayout<Value>&>(layout);
    return std::visit(
        [&]<typename ColumnIndex>(const Hbp<Value, ColumnIndex, HostArray>& hbp) -> std::unique_ptr<Kernel<Value>> {
            constexpr bool claims = allocation != Allocation::fixed;
            const Index dealt = allocation == Allocation::fixed         ? hbp.tile_count()
                                : allocation == Allocation::competitive ? 0
                                                                        : hbp.fixed_tiles;
            return std::make_unique<HbpKernel<Value, ColumnIndex, Size, claims>>(own, hbp, dealt, device);
        },
        own.stored);
}

using UsualSize = Size<8, 32>;

template <Allocation allocation, typename Size = UsualSize>
ForEachPrecision<PrepareKernel> both() {
    return {prepare<float, allocation, Size>, prepare<double, allocation, Size>};
}

}  // namespace

std::vector<KernelEntry> hbp_cuda_kernels() {
    return {
        {"fixed", Backend::cuda, "a warp a tile, the tiles dealt to the warps in turn; then partial results merged",
         both<Allocation::fixed>()},
        {"competitive", Backend::cuda, "a warp a tile, claimed from a counter; then partial results merged",
         both<Allocation::competitive>()},
        {"mixed", Backend::cuda, "fixed_share of the tiles dealt, the rest claimed (the paper's mixed execution)",
         both<Allocation::mixed>()},
        {"fixed_4x32", Backend::cuda, "4 entries in flight, 32 warps", both<Allocation::fixed, Size<4, 32>>()},
        {"fixed_4x40", Backend::cuda, "4 entries in flight, 40 warps", both<Allocation::fixed, Size<4, 40>>()},
        {"fixed_8x24", Backend::cuda, "8 entries in flight, 24 warps", both<Allocation::fixed, Size<8, 24>>()},
        {"competitive_4x40", Backend::cuda, "4 entries in flight, 40 warps", both<Allocation::competitive, Size<4, 40>>()},
    };
}

std::vector<Recorded> record_hbp_reads(const HbpLayout<double>& layout, Device& device) {
    return std::visit(
        [&](const auto& stored) {
            const auto hbp = copy_to(device, stored, "hbp");
            const unsigned blocks = blocks_for(stored.tile_count(), warps_per_block);
            Recording recording(device, hbp.data, Offset{blocks} * threads_per_block);
            const DeviceArray<double> x(device, std::vector<double>(stored.column_count), "x");
            const DeviceMemory results = device.allocate(layout.partial_results() * sizeof(double), "hbp partial results");
            const DeviceMemory y = device.allocate(stored.row_count * sizeof(double), "y");
            multiply_tiles<UsualSize, false><<<blocks, threads_per_block, 0, cuda_device(device).stream()>>>(
                view_of(hbp), recording.load(), stored.tile_count(), nullptr, x.data(), results.as<double>(), y.as<double>(),
                false);
            check_launch("hbp recorded");
            return recording.read();
        },
        layout.stored);
}

}  // namespace workbench
