// HBP on a GPU, in two steps. First, warps multiply chunks of the tiles, write the rows of y that have no other result, and
// store partial results of the others; as many warps as the device holds at a time process the chunks that were dealt to them,
// then those that they claim from a counter. Second, each warp adds up the partial results of a group of rows.
//
// The entries of a chunk are a stream, which a warp takes in pieces: it multiplies neighbours by x, whatever rows they belong
// to, with all loads of a piece in flight at once, and puts the products into shared memory. There each lane follows its row by
// add_sign while the next piece is loaded. So neither the distance to the next entry nor the longest row of a batch delays the
// loads. The first piece of the next chunk, and the offsets that lead to it, are loaded ahead in the same way.
//
// Races in global memory: a chunk is dealt to one warp or claimed by one; the counter is changed only by atomicAdd, after it
// has been set to 0 on the same stream. One lane writes each row that is in no tile, each row of y that has one result, and
// each partial result. The second step starts after the first has ended; one lane writes each of its rows, which the first does
// not write. In shared memory every warp has its own part, and waits for its lanes between writing a piece or the batches of a
// chunk and reading them, and again before it writes the next.
#pragma once

#include <algorithm>

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/hbp/layout.hpp"
#include "kernels/formats/hbp/placement.hpp"

namespace workbench::hbp {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / hbp_lanes;
constexpr unsigned all_lanes = ~0U;

/// The entries of a piece that a lane loads: as many as a word has bytes of add_sign.
constexpr int in_flight = tuned::hbp_entries_in_flight;
using Signs = unsigned long long;
static_assert(sizeof(Signs) == in_flight);

/// The least that a multiprocessor holds, which bounds the registers.
constexpr int blocks_per_processor = tuned::hbp_resident_blocks;

/// The place of a chunk; without batches if the chunk does not exist. The lanes share it, to save registers: lane 0 holds its
/// first batch, lane 1 its end, lane 2 its least column.
struct ChunkPlace {
    Index of_lane = 0;

    __device__ __forceinline__ ChunkPlace(const auto& hbp, unsigned chunk, int lane) {
        if (chunk >= static_cast<unsigned>(hbp.chunk_count())) return;
        of_lane = lane < 2 ? hbp.chunk_batches[Offset{chunk} + lane] : hbp.chunk_columns[chunk];
    }
    [[nodiscard]] __device__ __forceinline__ Index first_batch() const { return __shfl_sync(all_lanes, of_lane, 0); }
    [[nodiscard]] __device__ __forceinline__ int batch_count() const {
        return __shfl_sync(all_lanes, of_lane, 1) - first_batch();
    }
    [[nodiscard]] __device__ __forceinline__ Index column() const { return __shfl_sync(all_lanes, of_lane, 2); }
};

/// The batches of a chunk, as loaded. Lane i holds the begin of batch i; the lanes from the number of batches on hold the end
/// of the last one.
struct Batches {
    ChunkPlace place;
    Offset begin_of_lane = 0;
    Index rows_of_lane = 0;
    std::uint32_t zero_row_of_lane = 0;

    __device__ __forceinline__ Batches(const auto& hbp, const ChunkPlace& place, int lane) : place(place) {
        const int count = place.batch_count();
        const Index batch = place.first_batch() + min(lane, count);
        if (count == 0) return;
        begin_of_lane = hbp.begin_ptr[batch];
        rows_of_lane = hbp.batch_rows[batch];
        if (lane < count) zero_row_of_lane = hbp.zero_row[batch];
    }
};

/// The batches in shared memory. Entries are counted from the beginning of the stream.
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

/// The output_order of a lane whose batch has the stored rows [first, end).
__device__ __forceinline__ Index output_of(const auto& hbp, Index first, Index end, int lane) {
    return first + lane < end ? hbp.output_order[first + lane] : hbp_no_output;
}

/// The output_order of a lane in the first batch of a chunk.
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

/// How chunks are allocated to warps.
struct Deals {
    const Index* first_chunks;  // [warps + 1] the chunks dealt to each warp
    Index claimed_from;         // the first chunk that no warp was dealt
    unsigned* counter;          // chunks claimed so far
};

/// The chunks of a warp: first those dealt to it. claims: then those that it claims.
template <bool claims>
struct Turns {
    const unsigned& end;  // of the chunks dealt to it; in shared memory, to save a register
    unsigned claimed_from;
    unsigned* counter;

    /// Returns the next chunk, or a number beyond all chunks, in lane 0. `at` may return `chunk` itself, if it was dealt.
    [[nodiscard]] __device__ __forceinline__ unsigned after(unsigned chunk, int lane) const { return at(chunk + 1, lane); }
    [[nodiscard]] static __device__ __forceinline__ unsigned broadcast(unsigned chunk_in_lane_0) {
        return __shfl_sync(all_lanes, chunk_in_lane_0, 0);
    }

    [[nodiscard]] __device__ __forceinline__ unsigned at(unsigned chunk, int lane) const {
        if (chunk < end) return chunk;
        if constexpr (claims) return lane == 0 ? claimed_from + atomicAdd(counter, 1U) : 0;
        return 0x7fffffff;
    }
};

/// A piece of a stream in the shared memory of a warp.
template <typename Value>
struct SharedPiece {
    static constexpr int size = in_flight * hbp_lanes;
    Signs signs[hbp_lanes];
    Value products[size];

    [[nodiscard]] __device__ int sign(int entry) const { return reinterpret_cast<const std::uint8_t*>(signs)[entry]; }
};

/// A piece in registers: lane l has its entries l, l + 32 ..., and the bytes of add_sign from l * in_flight on.
template <typename Value, typename ColumnIndex>
struct LoadedPiece {
    Value values[in_flight];
    ColumnIndex columns[in_flight];
    Signs signs;

    /// Loads the piece at `first` of a stream, with 0 beyond its end.
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

    /// Multiplies it by x and stores it. Its columns are counted from `column`.
    __device__ __forceinline__ void put(const Value* __restrict__ x, Index column, int lane, SharedPiece<Value>& shared) const {
        Value x_of_entries[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) x_of_entries[u] = x[column + columns[u]];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) shared.products[u * hbp_lanes + lane] = values[u] * x_of_entries[u];
        shared.signs[lane] = signs;
    }
};

/// The vectors of a product, and the partial results.
template <typename Value>
struct Outputs {
    ProductVectors<Value> vectors;
    Value* results;
};

/// A lane's row of a batch. Places are counted from the beginning of the stream.
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
    __device__ __forceinline__ void write(int lane, const Outputs<Value>& outputs) {
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
            outputs.vectors.put(output, sum);
        } else {
            outputs.results[~output] = sum;
        }
    }
};

template <typename Value>
__device__ __forceinline__ void zero_absent_rows(const auto& hbp, Offset thread, Value* y) {
    const Offset threads = Offset{gridDim.x} * threads_per_block;
    for (Offset i = thread; i < hbp.absent_rows.size(); i += threads) y[hbp.absent_rows[i]] = 0;
}

/// A software pipeline over the chunks of a warp: while the warp multiplies chunk k, it loads the first piece and the batches
/// of chunk k + 1, the position of chunk k + 2 and the number of chunk k + 3.
template <bool claims, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, blocks_per_processor)
    multiply_chunks(const __grid_constant__ Stored hbp, const Load load, const Deals deals, const Value* __restrict__ x,
                    Value* __restrict__ results, Value* __restrict__ y, bool accumulate) {
    constexpr int size = SharedPiece<Value>::size;
    __shared__ SharedPiece<Value> pieces[warps_per_block];
    __shared__ SharedBatches batches_of_warps[warps_per_block];
    __shared__ unsigned ends[warps_per_block];
    SharedPiece<Value>& shared = pieces[threadIdx.x / hbp_lanes];
    SharedBatches& batches = batches_of_warps[threadIdx.x / hbp_lanes];
    const int lane = static_cast<int>(threadIdx.x) % hbp_lanes;
    const unsigned warp = (blockIdx.x * threads_per_block + threadIdx.x) / hbp_lanes;
    if (lane == 0) ends[threadIdx.x / hbp_lanes] = deals.first_chunks[warp + 1];
    __syncwarp();
    const Turns<claims> turns{ends[threadIdx.x / hbp_lanes], static_cast<unsigned>(deals.claimed_from), deals.counter};
    const Outputs<Value> outputs{{x, y, accumulate}, results};
    const unsigned first = turns.broadcast(turns.at(deals.first_chunks[warp], lane));
    const ChunkPlace first_place(hbp, first, lane);
    const unsigned second_in_lane_0 = turns.after(first, lane);
    Batches next(hbp, first_place, lane);
    Stream stream(next);
    LoadedPiece<Value, typename Stored::Column> piece;
    piece.load(hbp, stream, 0, lane, load);
    Index output = first_output_of(hbp, next, lane);
    const unsigned second = turns.broadcast(second_in_lane_0);
    ChunkPlace place(hbp, second, lane);
    unsigned chunk = turns.after(second, lane);
    if (!accumulate) zero_absent_rows(hbp, Offset{warp} * hbp_lanes + lane, y);
    for (int count = next.place.batch_count(); count > 0; count = next.place.batch_count()) {
        batches.put(next, stream.address, lane);
        const Index column = next.place.column();
        next = Batches(hbp, place, lane);
        chunk = turns.broadcast(chunk);
        place = ChunkPlace(hbp, chunk, lane);
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
                row.write(lane, outputs);
                if (batch + 1 == count) break;
                next_batch();
            }
            __syncwarp();
            if (is_last) break;
        }
    }
}

/// Each warp takes a group: each lane a row, or all lanes the only row.
template <typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    merge_results(const __grid_constant__ Stored hbp, const Value* __restrict__ results, Value* __restrict__ y,
                  bool accumulate) {
    constexpr int results_in_flight = tuned::hbp_results_in_flight;
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

/// All chunks are dealt; one is dealt to each warp and the others are claimed; or a share is dealt and the others are claimed.
enum class Allocation { fixed, competitive, mixed };

template <ValueType Value, typename ColumnIndex, Allocation allocation>
class ChunksKernel final : public Kernel<Value> {
public:
    ChunksKernel(const HbpLayout<Value>& layout, const Hbp<Value, ColumnIndex, HostArray>& stored, Device& device)
        : ChunksKernel(copy_to(device, stored, "hbp"), hbp_first_entries(stored.chunk_batches, stored.begin_ptr),
                       {layout.partial_results(), layout.bytes_of_product()}, device) {}

    /// Takes arrays that are on the device. first_entries: as for deal_hbp_chunks.
    ChunksKernel(Hbp<Value, ColumnIndex, DeviceArray>&& stored, const HostArray<Offset>& first_entries,
                 const HbpProduct& product, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_of_product_(product.bytes),
          hbp_(std::move(stored)),
          results_(device.allocate(product.partial_results * sizeof(Value), "hbp partial results")),
          counter_(device.allocate(sizeof(unsigned), "hbp chunk counter")) {
        blocks_ =
            std::max(blocks_for(hbp_.chunk_count(), warps_per_block), blocks_for(hbp_.absent_rows.size(), threads_per_block));
        int resident = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, multiply_chunks<claims, StreamingLoad, Hbp<Value, ColumnIndex, ArrayView>, Value>,
                       threads_per_block, 0),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        blocks_ = std::min(blocks_, static_cast<unsigned>(resident * device.properties().processors));
        const Index chunks = hbp_.chunk_count();
        const auto warps = static_cast<Index>(blocks_ * warps_per_block);
        claimed_from_ = allocation == Allocation::mixed         ? hbp_.fixed_chunks
                        : allocation == Allocation::competitive ? std::min(chunks, warps)
                                                                : chunks;
        deals_ = DeviceArray<Index>(device, deal_hbp_chunks(first_entries, claimed_from_, warps), "hbp deals");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hbp_.row_count == 0) return;
        if constexpr (claims) {
            check_cuda(cudaMemsetAsync(counter_.address(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
        }
        multiply(StreamingLoad{}, x, y, accumulate);
        if (hbp_.group_count() == 0) return;
        merge_results<<<blocks_for(hbp_.group_count(), warps_per_block), threads_per_block, 0, stream_>>>(
            view_of(hbp_), results_.as<Value>(), y, accumulate);
        check_launch("hbp merge");
    }

    /// The first step.
    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        multiply_chunks<claims><<<blocks_, threads_per_block, 0, stream_>>>(
            view_of(hbp_), load, Deals{deals_.data(), claimed_from_, counter_.as<unsigned>()}, x, results_.as<Value>(), y,
            accumulate);
        check_launch("hbp chunks");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }
    [[nodiscard]] const Hbp<Value, ColumnIndex, DeviceArray>& stored() const { return hbp_; }
    [[nodiscard]] Offset launched_threads() const { return Offset{blocks_} * threads_per_block; }

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

}  // namespace workbench::hbp
