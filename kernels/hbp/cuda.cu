// HBP on a GPU, in two steps: warps multiply chunks of the tiles, write the rows of y that have no other result and store
// partial results of the others; then a warp adds up those of a group of rows. As many warps as the device holds at a time go
// through the chunks: through those dealt to them, then through those that they claim from a counter.
//
// The entries of a chunk are a stream, which a warp takes in pieces: it multiplies neighbours by x whatever rows they belong
// to, with the loads of a whole piece under way at once, and puts the products into shared memory. There each lane follows its
// row by add_sign, while the next piece is on its way. So neither the distance to the next entry nor the longest row of a batch
// holds up what comes from memory. The first piece of the next chunk and what leads to it come likewise.
//
// Races in global memory. A chunk is dealt to one warp or claimed by one: the counter is only touched by atomicAdd, after it
// has been set to 0 on the same stream. Rows in no tile, rows of y that have one result, and partial results are each written
// by one lane. The second step starts after the first has ended, and writes its rows, which the first does not, by one lane
// each. In shared memory every warp has parts of its own, and waits for its lanes between writing a piece or the batches of a
// chunk and reading them, and again before it writes the next.
#include <algorithm>
#include <cstdint>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/loads.cuh"
#include "kernels/device/recording.cuh"
#include "kernels/device/sparse_dot.cuh"
#include "kernels/hbp/layout.hpp"
#include "kernels/hbp/placement.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / hbp_lanes;
constexpr unsigned all_lanes = ~0U;

/// Entries that a lane loads of a piece: as many bytes of add_sign as a word has.
constexpr int in_flight = 8;
using Signs = unsigned long long;
static_assert(sizeof(Signs) == in_flight);

/// That a multiprocessor is to hold, which limits registers.
constexpr int blocks_per_processor = 4;

/// Where a chunk lies, which has no batches where there is no such chunk. The lanes share it, to spare registers: lane 0 has
/// its first batch, lane 1 its end, lane 2 its least column.
struct Place {
    Index of_lane = 0;

    __device__ __forceinline__ Place(const auto& hbp, unsigned chunk, int lane) {
        if (chunk >= static_cast<unsigned>(hbp.chunk_count())) return;
        of_lane = lane < 2 ? hbp.chunk_batches[Offset{chunk} + lane] : hbp.chunk_columns[chunk];
    }
    [[nodiscard]] __device__ __forceinline__ Index first_batch() const { return __shfl_sync(all_lanes, of_lane, 0); }
    [[nodiscard]] __device__ __forceinline__ int batch_count() const {
        return __shfl_sync(all_lanes, of_lane, 1) - first_batch();
    }
    [[nodiscard]] __device__ __forceinline__ Index column() const { return __shfl_sync(all_lanes, of_lane, 2); }
};

/// The batches of a chunk as they come. Lane i knows where batch i begins; the lanes from the number of batches on, where the
/// last one ends.
struct Batches {
    Place place;
    Offset begin_of_lane = 0;
    Index rows_of_lane = 0;
    std::uint32_t zero_row_of_lane = 0;

    __device__ __forceinline__ Batches(const auto& hbp, const Place& place, int lane) : place(place) {
        const int count = place.batch_count();
        const Index batch = place.first_batch() + min(lane, count);
        if (count == 0) return;
        begin_of_lane = hbp.begin_ptr[batch];
        rows_of_lane = hbp.batch_rows[batch];
        if (lane < count) zero_row_of_lane = hbp.zero_row[batch];
    }
};

/// The same in shared memory. Entries count from the beginning of the stream.
struct SharedBatches {
    int begins[hbp_batches_of_chunk + 1];
    Index rows[hbp_batches_of_chunk + 1];
    std::uint32_t zero_rows[hbp_batches_of_chunk + 1];

    __device__ __forceinline__ void put(const Batches& batches, Offset stream, int lane) {
        if (lane > hbp_batches_of_chunk) return;
        begins[lane] = static_cast<int>(batches.begin_of_lane - stream);
        rows[lane] = batches.rows_of_lane;
        zero_rows[lane] = batches.zero_row_of_lane;
    }
};

/// The row of y, or the partial result, of a lane whose batch has the stored rows [first, end).
__device__ __forceinline__ Index output_of(const auto& hbp, Index first, Index end, int lane) {
    return first + lane < end ? hbp.output_order[first + lane] : hbp_no_output;
}

/// Of the first batch of a chunk.
__device__ __forceinline__ Index first_output_of(const auto& hbp, const Batches& batches, int lane) {
    return output_of(hbp, __shfl_sync(all_lanes, batches.rows_of_lane, 0), __shfl_sync(all_lanes, batches.rows_of_lane, 1),
                     lane);
}

/// The entries of a chunk, as places from a multiple of 32 on.
struct Stream {
    Offset address = 0;
    int begin = 0;
    int end = 0;

    __device__ __forceinline__ explicit Stream(const Batches& batches) {
        const Offset first = __shfl_sync(all_lanes, batches.begin_of_lane, 0);
        address = hbp_stream_begin(first);
        begin = static_cast<int>(first - address);
        end = static_cast<int>(__shfl_sync(all_lanes, batches.begin_of_lane, hbp_lanes - 1) - address);
    }
};

/// The chunks of a warp: first those that it was dealt. claims: then those that it claims, from the first that nobody was
/// dealt.
template <bool claims>
struct Turns {
    const unsigned& end;  // of those that it was dealt; in shared memory, to spare a register
    unsigned claimed_from;
    unsigned* counter;

    /// Lane 0 has the chunk after one of these, or a number beyond all chunks. `at`: that chunk itself, where it was dealt.
    [[nodiscard]] __device__ __forceinline__ unsigned after(unsigned chunk, int lane) const { return at(chunk + 1, lane); }
    [[nodiscard]] static __device__ __forceinline__ unsigned tell(unsigned chunk_in_lane_0) {
        return __shfl_sync(all_lanes, chunk_in_lane_0, 0);
    }

    [[nodiscard]] __device__ __forceinline__ unsigned at(unsigned chunk, int lane) const {
        if (chunk < end) return chunk;
        if constexpr (claims) return lane == 0 ? claimed_from + atomicAdd(counter, 1U) : 0;
        return 0x7fffffff;
    }
};

/// A piece of a stream: what a warp has in shared memory of it.
template <typename Value>
struct SharedPiece {
    static constexpr int size = in_flight * hbp_lanes;
    Signs signs[hbp_lanes];
    Value products[size];

    [[nodiscard]] __device__ int sign(int entry) const { return reinterpret_cast<const std::uint8_t*>(signs)[entry]; }
};

/// A piece on its way: lane l has its entries l, l + 32 ..., and the bytes of add_sign from l * in_flight on.
template <typename Value, typename ColumnIndex>
struct LoadedPiece {
    Value values[in_flight];
    ColumnIndex columns[in_flight];
    Signs signs;

    /// Of the piece at `first` of a stream. What is not of the stream is 0 here.
    __device__ __forceinline__ void load(const auto& hbp, const Stream& stream, int first, int lane, const auto& load) {
        const Value* const data = hbp.data.data() + stream.address;
        const ColumnIndex* const column_indices = hbp.column_indices.data() + stream.address;
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const int entry = first + u * hbp_lanes + lane;
            const bool there = entry >= stream.begin && entry < stream.end;
            values[u] = there ? load(data + entry) : Value{0};
            columns[u] = there ? load(column_indices + entry) : ColumnIndex{0};
        }
        const int byte = first + lane * in_flight;
        const std::uint8_t* const add_sign = hbp.add_sign.data() + stream.address;
        signs = 0;
        if (stream.address + byte + in_flight <= hbp.add_sign.size()) {
            if (byte < stream.end) signs = load(reinterpret_cast<const Signs*>(add_sign + byte));
        } else {
            for (int i = 0; byte + i < stream.end; ++i) signs |= Signs{load(add_sign + byte + i)} << 8 * i;
        }
    }

    /// Multiplies it by x and stores it. Its columns count from `column` on.
    __device__ __forceinline__ void put(const Value* __restrict__ x, Index column, int lane, SharedPiece<Value>& shared) const {
        Value x_of_entries[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) x_of_entries[u] = x[column + columns[u]];
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

    LaneRow() = default;
    __device__ __forceinline__ LaneRow(Index output, int begin_of_batch, std::uint32_t zero_row, int lane)
        : output(output), at(hbp_has_entries(zero_row, lane) ? begin_of_batch + hbp_lanes_before(zero_row, lane) : none) {}

    __device__ __forceinline__ void follow(const SharedPiece<Value>& shared, int first, int end) {
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

/// While a warp multiplies a chunk, the first piece of the next one, the batches of that, the place of the one after, and the
/// number of the one after that are on their way.
template <bool claims, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, blocks_per_processor)
    multiply_chunks(const __grid_constant__ Stored hbp, const Load load, const Index* __restrict__ deals, Index claimed_from,
                    unsigned* __restrict__ counter, const Value* __restrict__ x, Value* __restrict__ results,
                    Value* __restrict__ y, bool accumulate) {
    constexpr int size = SharedPiece<Value>::size;
    __shared__ SharedPiece<Value> pieces[warps_per_block];
    __shared__ SharedBatches batches_of_warps[warps_per_block];
    __shared__ unsigned ends[warps_per_block];
    SharedPiece<Value>& shared = pieces[threadIdx.x / hbp_lanes];
    SharedBatches& batches = batches_of_warps[threadIdx.x / hbp_lanes];
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const unsigned warp = (blockIdx.x * threads_per_block + threadIdx.x) / hbp_lanes;
    if (lane == 0) ends[threadIdx.x / hbp_lanes] = deals[warp + 1];
    __syncwarp();
    const Turns<claims> turns{ends[threadIdx.x / hbp_lanes], static_cast<unsigned>(claimed_from), counter};
    const unsigned first = turns.tell(turns.at(deals[warp], lane));
    const Place first_place(hbp, first, lane);
    const unsigned second_in_lane_0 = turns.after(first, lane);
    Batches next(hbp, first_place, lane);
    Stream stream(next);
    LoadedPiece<Value, typename Stored::Column> piece;
    piece.load(hbp, stream, 0, lane, load);
    Index output = first_output_of(hbp, next, lane);
    const unsigned second = turns.tell(second_in_lane_0);
    Place place(hbp, second, lane);
    unsigned chunk = turns.after(second, lane);
    if (!accumulate) {
        const Offset threads = Offset{gridDim.x} * threads_per_block;
        for (Offset i = Offset{warp} * hbp_lanes + lane; i < hbp.absent_rows.size(); i += threads) {
            y[hbp.absent_rows[i]] = 0;
        }
    }
    for (int count = next.place.batch_count(); count > 0; count = next.place.batch_count()) {
        batches.put(next, stream.address, lane);
        const Index column = next.place.column();
        next = Batches(hbp, place, lane);
        chunk = turns.tell(chunk);
        place = Place(hbp, chunk, lane);
        chunk = turns.after(chunk, lane);
        __syncwarp();

        LaneRow<Value> row;
        int batch = -1;
        int end_of_batch = 0;
        bool is_last = false;
        const auto next_batch = [&] {
            ++batch;
            row = LaneRow<Value>(output, batches.begins[batch], batches.zero_rows[batch], lane);
            end_of_batch = batches.begins[batch + 1];
            if (batch + 1 < count) {
                output = output_of(hbp, batches.rows[batch + 1], batches.rows[batch + 2], lane);
            } else if (is_last) {
                output = first_output_of(hbp, next, lane);
            }
        };
        next_batch();
        const int end = stream.end;
        for (int at = 0;; at += size) {
            is_last = at + size >= end;
            if (at < end) piece.put(x, column, lane, shared);
            int next_at = at + size;
            if (is_last) {
                stream = Stream(next);
                next_at = 0;
                if (batch + 1 == count) output = first_output_of(hbp, next, lane);
            }
            piece.load(hbp, stream, next_at, lane, load);
            __syncwarp();
            for (;;) {
                row.follow(shared, at, min(end_of_batch, at + size));
                if (end_of_batch > at + size) break;
                row.write(lane, results, y, accumulate);
                if (batch + 1 == count) break;
                next_batch();
            }
            __syncwarp();
            if (is_last) break;
        }
    }
}

/// A warp a group: a lane a row, or all lanes the only row.
template <typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    merge_results(const __grid_constant__ Stored hbp, const Value* __restrict__ results, Value* __restrict__ y,
                  bool accumulate) {
    constexpr int results_in_flight = 4;
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const Offset group = (static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x) / hbp_lanes;
    if (group >= hbp.group_count()) return;
    const Index first = hbp.merge_rows[group];
    const int rows = hbp.merge_rows[group + 1] - first;
    const Offset end = hbp.merge_results[group + 1];
    Offset at = hbp.merge_results[group];
    Value sum = 0;
    if (rows == 1) {
        for (at += lane; at < end; at += results_in_flight * hbp_lanes) {
            Value loaded[results_in_flight];
#pragma unroll
            for (int u = 0; u < results_in_flight; ++u) {
                loaded[u] = at + u * hbp_lanes < end ? results[at + u * hbp_lanes] : Value{0};
            }
#pragma unroll
            for (int u = 0; u < results_in_flight; ++u) sum += loaded[u];
        }
        __syncwarp();
        for (int distance = hbp_lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(all_lanes, sum, distance);
    } else {
        const int count = lane < rows ? hbp.merged_counts[first + lane] : 0;
        const unsigned before = (1U << lane) - 1;
        for (int k = 0; at < end; k += results_in_flight) {
            Value loaded[results_in_flight];
#pragma unroll
            for (int u = 0; u < results_in_flight; ++u) {
                const bool there = k + u < count;
                const unsigned lanes = __ballot_sync(all_lanes, there);
                loaded[u] = there ? results[at + __popc(lanes & before)] : Value{0};
                at += __popc(lanes);
            }
#pragma unroll
            for (int u = 0; u < results_in_flight; ++u) sum += loaded[u];
        }
    }
    if (lane < rows) write_result(y + hbp.merged_rows[first + lane], sum, accumulate);
}

/// How the chunks come to the warps: all dealt; one dealt to each, the others claimed; or a share dealt, the others claimed.
enum class Allocation { fixed, competitive, mixed };

template <ValueType Value, typename ColumnIndex, Allocation allocation>
class HbpKernel final : public Kernel<Value> {
public:
    using Stored = Hbp<Value, ColumnIndex, HostArray>;

    HbpKernel(const HbpLayout<Value>& layout, const Stored& stored, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_of_product_(layout.bytes_of_product()),
          hbp_(copy_to(device, stored, "hbp")),
          results_(device.allocate(layout.partial_results() * sizeof(Value), "hbp partial results")),
          counter_(device.allocate(sizeof(unsigned), "hbp chunk counter")) {
        blocks_ = std::max(blocks_for(stored.chunk_count(), warps_per_block),
                           blocks_for(static_cast<Offset>(stored.absent_rows.size()), threads_per_block));
        int resident = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, multiply_chunks<claims, StreamingLoad, Hbp<Value, ColumnIndex, ArrayView>, Value>,
                       threads_per_block, 0),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        blocks_ = std::min(blocks_, static_cast<unsigned>(resident * device.properties().processors));
        const Index chunks = stored.chunk_count();
        const auto warps = static_cast<Index>(blocks_ * warps_per_block);
        claimed_from_ = allocation == Allocation::mixed         ? stored.fixed_chunks
                        : allocation == Allocation::competitive ? std::min(chunks, warps)
                                                                : chunks;
        deals_ = DeviceArray<Index>(device, deal_hbp_chunks(stored.chunk_batches, stored.begin_ptr, claimed_from_, warps),
                                    "hbp deals");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hbp_.row_count == 0) return;
        if constexpr (claims) {
            check_cuda(cudaMemsetAsync(counter_.address(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
        }
        multiply_chunks<claims><<<blocks_, threads_per_block, 0, stream_>>>(view_of(hbp_), StreamingLoad{}, deals_.data(),
                                                                            claimed_from_, counter_.as<unsigned>(), x,
                                                                            results_.as<Value>(), y, accumulate);
        check_launch("hbp chunks");
        if (hbp_.group_count() == 0) return;
        merge_results<<<blocks_for(hbp_.group_count(), warps_per_block), threads_per_block, 0, stream_>>>(
            view_of(hbp_), results_.as<Value>(), y, accumulate);
        check_launch("hbp merge");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    static constexpr bool claims = allocation != Allocation::fixed;

    cudaStream_t stream_;
    std::int64_t bytes_of_product_;
    Hbp<Value, ColumnIndex, DeviceArray> hbp_;
    DeviceMemory results_;
    DeviceMemory counter_;
    DeviceArray<Index> deals_;
    unsigned blocks_ = 0;
    Index claimed_from_ = 0;
};

template <ValueType Value, Allocation allocation>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const HbpLayout<Value>&>(layout);
    return std::visit(
        [&]<typename ColumnIndex>(const Hbp<Value, ColumnIndex, HostArray>& hbp) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<HbpKernel<Value, ColumnIndex, allocation>>(own, hbp, device);
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
        {"fixed", Backend::cuda, "chunks dealt to the warps, to all about as many entries; then partial results merged",
         both<Allocation::fixed>()},
        {"competitive", Backend::cuda, "chunks claimed by the warps from a counter; then partial results merged",
         both<Allocation::competitive>()},
        {"mixed", Backend::cuda, "fixed_share of the chunks dealt, the rest claimed (the paper's mixed execution)",
         both<Allocation::mixed>()},
    };
}

std::vector<Recorded> record_hbp_reads(const HbpLayout<double>& layout, Device& device) {
    return std::visit(
        [&](const auto& stored) {
            const auto hbp = copy_to(device, stored, "hbp");
            const unsigned blocks = blocks_for(stored.chunk_count(), warps_per_block);
            HostArray<Index> deals;  // a chunk for each warp
            for (Index warp = 0; warp <= static_cast<Index>(blocks * warps_per_block); ++warp) {
                deals.push_back(std::min(warp, stored.chunk_count()));
            }
            const DeviceArray<Index> device_deals(device, deals, "hbp deals");
            Recording recording(device, hbp.data, Offset{blocks} * threads_per_block);
            const DeviceArray<double> x(device, std::vector<double>(stored.column_count), "x");
            const DeviceMemory results = device.allocate(layout.partial_results() * sizeof(double), "hbp partial results");
            const DeviceMemory y = device.allocate(stored.row_count * sizeof(double), "y");
            multiply_chunks<false><<<blocks, threads_per_block, 0, cuda_device(device).stream()>>>(
                view_of(hbp), recording.load(), device_deals.data(), stored.chunk_count(), nullptr, x.data(),
                results.as<double>(), y.as<double>(), false);
            check_launch("hbp recorded");
            return recording.read();
        },
        layout.stored);
}

}  // namespace workbench
