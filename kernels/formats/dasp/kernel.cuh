// DASP on a GPU: one launch, whose thread blocks take the long rows first, then row blocks of medium rows, fragments of short
// rows, and last the rows with at most one entry. In f64 a fragment is one instruction of a tensor core: A [8 x 4] holds the
// entries, and each lane's element of B [4 x 8] is x in the column of its own entry. Row i of A thus meets its own x in column
// i of B, and the diagonal of C [8 x 8] holds the sums; the other elements are not used. In f32 a tensor core would round to 10
// bits: each lane multiplies its own entries instead, and the four lanes of a row add up at the end.
//
// Races: each row of y is in one list of rows and is written by one lane of the warp that processes its place there. A long row
// of several pieces has a partial sum for each, written by one lane, which then, after a fence, counts the finished pieces of
// the row. The warp that counts the last one reads the partial sums, after a fence and past the caches of its multiprocessor,
// in the order of the pieces, so that every run has the same result. Only that warp writes the row, and its count has reset the
// counter for the next run, which starts after this one has ended. No shared memory is used.
#pragma once

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/dasp/layout.hpp"

namespace workbench::dasp {

constexpr int threads_per_block = DaspGrid::warps * dasp_lanes;
constexpr unsigned whole_warp = ~0U;

/// The sums of the 8 rows of a fragment. In each quad of lanes the one for which `writes` is true holds the sum of its row.
template <typename Value, bool tensor>
class QuadSums {
public:
    static __device__ __forceinline__ bool writes(int lane) { return lane % dasp_width == lane / dasp_rows; }

    /// The whole warp calls it, with an entry a lane.
    __device__ __forceinline__ void add(Value value, Value x) { sum_ += value * x; }
    /// This lane's share of the sum of all rows.
    [[nodiscard]] __device__ __forceinline__ Value share(int) const { return sum_; }
    /// The sum of the lane's row, in the lanes that write. The whole warp calls it.
    [[nodiscard]] __device__ __forceinline__ Value of_row(int) const {
        Value sum = sum_;
        sum += __shfl_xor_sync(whole_warp, sum, 1);
        return sum + __shfl_xor_sync(whole_warp, sum, 2);
    }

private:
    Value sum_ = 0;
};

/// Lane 4 i + q holds columns 2 q and 2 q + 1 of row i of C, so that q = i / 2 holds the diagonal.
template <>
class QuadSums<double, true> {
public:
    static __device__ __forceinline__ bool writes(int lane) { return lane % dasp_width == lane / dasp_rows; }

    __device__ __forceinline__ void add(double value, double x) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(even_), "+d"(odd_)
                     : "d"(value), "d"(x));
    }
    [[nodiscard]] __device__ __forceinline__ double share(int lane) const { return writes(lane) ? of_row(lane) : 0; }
    [[nodiscard]] __device__ __forceinline__ double of_row(int lane) const { return lane / dasp_width % 2 == 0 ? even_ : odd_; }

private:
    double even_ = 0;
    double odd_ = 0;
};

template <typename Value>
__device__ __forceinline__ Value sum_of_warp(Value share) {
#pragma unroll
    for (int distance = dasp_lanes / 2; distance > 0; distance /= 2) {
        share += __shfl_xor_sync(whole_warp, share, distance);
    }
    return share;
}

template <typename Value>
struct LoadedEntry {
    Value value = 0;
    Index column = -1;  // -1: no entry
};

/// x of an entry's column.
template <typename Value>
__device__ __forceinline__ Value x_of(const LoadedEntry<Value>& entry, const Value* __restrict__ x) {
    return entry.column >= 0 ? x[entry.column] : Value{0};
}

/// Adds up `runs` of entries side by side: entry_at(r, k) is this lane's k-th entry of run r, for k < rounds, which is the same
/// in the whole warp. `in_flight` entries of each run are loaded before the first is used; ahead: the next ones are loaded
/// while these wait for x.
template <int in_flight, bool ahead, int runs, typename Value>
__device__ __forceinline__ void add_up(int rounds, const auto& entry_at, const Value* __restrict__ x, auto(&sums)[runs]) {
    LoadedEntry<Value> entries[in_flight][runs];
    const auto load_from = [&](int first) {
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) entries[u][r] = entry_at(r, first + u);
        }
    };
    if constexpr (ahead) load_from(0);
    for (int first = 0; first < rounds; first += in_flight) {
        if constexpr (!ahead) load_from(first);
        Value values[in_flight][runs];
        Value x_of_entries[in_flight][runs];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) {
                values[u][r] = entries[u][r].value;
                x_of_entries[u][r] = x_of(entries[u][r], x);
            }
        }
        if constexpr (ahead) load_from(first + in_flight);
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) sums[r].add(values[u][r], x_of_entries[u][r]);
        }
    }
}

/// The memory that long rows of several pieces need.
template <typename Value>
struct PieceSums {
    Value* sums = nullptr;         // [pieces]
    unsigned* counters = nullptr;  // [long rows] finished pieces; 0 between runs
};

template <bool tensor, typename Value>
__device__ __forceinline__ void multiply_piece(const auto& dasp, const PieceSums<Value>& pieces, Offset piece, int lane,
                                               const auto& load, const ProductVectors<Value>& vectors) {
    if (piece >= dasp.pieces()) return;
    const Offset begin = dasp.piece_offsets[piece];
    const Index number = dasp.piece_rows[piece];
    const auto steps = static_cast<int>((dasp.piece_offsets[piece + 1] - begin) / dasp_lanes);
    const Value* const values = dasp.long_values.data() + begin + lane;
    const Index* const columns = dasp.long_columns.data() + begin + lane;
    QuadSums<Value, tensor> sums[1];
    add_up<tuned::dasp_long_in_flight, true>(
        steps,
        [&](int, int k) {
            return k < steps ? LoadedEntry<Value>{load(values + k * dasp_lanes), load(columns + k * dasp_lanes)}
                             : LoadedEntry<Value>{};
        },
        vectors.x, sums);
    Value sum = sum_of_warp(sums[0].share(lane));

    const Index first = dasp.long_pieces[number];
    const Index count = dasp.long_pieces[number + 1] - first;
    if (count > 1) {
        unsigned before = 0;
        if (lane == 0) {
            pieces.sums[piece] = sum;
            __threadfence();
            before = atomicInc(pieces.counters + number, static_cast<unsigned>(count - 1));
        }
        before = __shfl_sync(whole_warp, before, 0);
        if (before != static_cast<unsigned>(count - 1)) return;
        __threadfence();
        sum = 0;
        for (Index i = lane; i < count; i += dasp_lanes) sum += __ldcg(pieces.sums + first + i);
        sum = sum_of_warp(sum);
    }
    if (lane == 0) vectors.put(dasp.long_rows[number], sum);
}

template <typename Shape, bool tensor, typename Value>
__device__ __forceinline__ void multiply_row_blocks(const auto& dasp, Offset first, int lane, const auto& load,
                                                    const ProductVectors<Value>& vectors) {
    constexpr int row_blocks = Shape::row_blocks;
    if (first >= dasp.row_blocks()) return;
    // Places of entries are counted from the warp's first ones, in 32 bits.
    const Offset first_fragment = dasp.block_fragments[first];
    const Offset first_irregular = dasp.irregular_offsets[first];
    const Value* const values = dasp.regular_values.data() + first_fragment * dasp_lanes + lane;
    const Index* const columns = dasp.regular_columns.data() + first_fragment * dasp_lanes + lane;
    const Value* const irregular_values = dasp.irregular_values.data() + first_irregular;
    const Index* const irregular_columns = dasp.irregular_columns.data() + first_irregular;
    Index rows[row_blocks];
    int fragments[row_blocks];  // of each row block
    int slots[row_blocks];      // the first
    int irregular[row_blocks];  // this lane's first irregular entry if there were no fragments
    int counts[row_blocks];     // entries of this lane
    int most = 0;
    int next = 0;
#pragma unroll
    for (int r = 0; r < row_blocks; ++r) {
        const DaspLane own = lane_of_row_block(dasp, first + r, dasp.row_blocks(), lane);
        const auto left = static_cast<int>(own.irregular_end - own.irregular);
        rows[r] = own.row;
        fragments[r] = own.fragments;
        slots[r] = next;
        irregular[r] = static_cast<int>(own.irregular - first_irregular) - own.fragments * dasp_width;
        counts[r] = own.fragments + (max(left, 0) + dasp_width - 1) / dasp_width;
        most = max(most, counts[r]);
        next += own.fragments * dasp_lanes;
    }
    QuadSums<Value, tensor> sums[row_blocks];
    add_up<Shape::fragments, Shape::ahead>(
        __reduce_max_sync(whole_warp, most),
        [&](int r, int k) -> LoadedEntry<Value> {
            if (k >= counts[r]) return {};
            const bool is_regular = k < fragments[r];
            const int at = is_regular ? slots[r] + k * dasp_lanes : irregular[r] + k * dasp_width;
            return {load((is_regular ? values : irregular_values) + at), load((is_regular ? columns : irregular_columns) + at)};
        },
        vectors.x, sums);
#pragma unroll
    for (int r = 0; r < row_blocks; ++r) {
        const Value sum = sums[r].of_row(lane);
        if (sums[r].writes(lane) && rows[r] >= 0) vectors.put(rows[r], sum);
    }
}

template <bool tensor, typename Value>
__device__ __forceinline__ void multiply_short(const auto& dasp, Offset first, int lane, const auto& load,
                                               const ProductVectors<Value>& vectors) {
    LoadedEntry<Value> entries[tuned::dasp_short_in_flight];
    DaspShort quads[tuned::dasp_short_in_flight];
    Value x_of_entries[tuned::dasp_short_in_flight];
#pragma unroll
    for (int i = 0; i < tuned::dasp_short_in_flight; ++i) {
        if (first + i >= dasp.short_fragments()) continue;
        const Offset slot = (first + i) * dasp_lanes + lane;
        entries[i] = {load(dasp.short_values.data() + slot), load(dasp.short_columns.data() + slot)};
        quads[i] = lane_of_short_fragment(dasp, first + i, lane);
    }
#pragma unroll
    for (int i = 0; i < tuned::dasp_short_in_flight; ++i) x_of_entries[i] = x_of(entries[i], vectors.x);
#pragma unroll
    for (int i = 0; i < tuned::dasp_short_in_flight; ++i) {
        const bool is_first = lane % dasp_width < quads[i].split;
        const auto sum_where = [&](bool condition) {  // both factors: 0 times infinity is not 0
            QuadSums<Value, tensor> sums;
            sums.add(condition ? entries[i].value : Value{0}, condition ? x_of_entries[i] : Value{0});
            return sums.of_row(lane);
        };
        const Value of_first = sum_where(is_first);
        const Value of_second = sum_where(!is_first);
        if (!QuadSums<Value, tensor>::writes(lane)) continue;
        if (quads[i].first >= 0) vectors.put(quads[i].first, of_first);
        if (quads[i].second >= 0) vectors.put(quads[i].second, of_second);
    }
}

template <typename Value>
__device__ __forceinline__ void multiply_lone(const auto& dasp, Offset place, const auto& load,
                                              const ProductVectors<Value>& vectors) {
    const Offset singles = dasp.single_rows.size();
    if (place < singles) {
        vectors.put(dasp.single_rows[place],
                    load(dasp.single_values.data() + place) * vectors.x[load(dasp.single_columns.data() + place)]);
    } else if (place < dasp.lone_rows() && !vectors.accumulate) {
        vectors.y[dasp.empty_rows[place - singles]] = 0;
    }
}

template <typename Shape, bool tensor, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, Shape::blocks_per_processor)
    multiply_classes(const __grid_constant__ Stored dasp, const __grid_constant__ DaspGrid grid, const Load load,
                     const PieceSums<Value> pieces, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const int lane = static_cast<int>(threadIdx.x) % dasp_lanes;
    const auto warp_from = [](Offset first_block) {
        return (static_cast<Offset>(blockIdx.x) - first_block) * DaspGrid::warps + threadIdx.x / dasp_lanes;
    };
    const auto block = static_cast<Offset>(blockIdx.x);
    const ProductVectors<Value> vectors{x, y, accumulate};
    if (block < grid.medium) {
        multiply_piece<tensor>(dasp, pieces, warp_from(0), lane, load, vectors);
    } else if (block < grid.shorts) {
        multiply_row_blocks<Shape, tensor>(dasp, warp_from(grid.medium) * Shape::row_blocks, lane, load, vectors);
    } else if (block < grid.lone) {
        multiply_short<tensor>(dasp, warp_from(grid.shorts) * tuned::dasp_short_in_flight, lane, load, vectors);
    } else {
        multiply_lone(dasp, warp_from(grid.lone) * dasp_lanes + lane, load, vectors);
    }
}

template <typename Shape, bool tensor, ValueType Value>
class ClassesKernel final : public Kernel<Value> {
public:
    ClassesKernel(const DaspLayout<Value>& layout, Device& device)
        : dasp_(copy_to(device, layout.stored(), "dasp")),
          grid_(DaspGrid::of(dasp_, Shape::row_blocks)),
          stream_(cuda_device(device).stream()),
          sums_(device.allocate(layout.piece_rows.size() * sizeof(Value), "dasp sums of pieces")),
          counters_(
              to_device(device, std::span<const unsigned>(std::vector<unsigned>(layout.long_rows.size())), "dasp pieces done")),
          bytes_(layout.bytes_of_product()) {}

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        if (grid_.end == 0) return;
        const PieceSums<Value> pieces{sums_.template as<Value>(), counters_.template as<unsigned>()};
        multiply_classes<Shape, tensor><<<static_cast<unsigned>(grid_.end), threads_per_block, 0, stream_>>>(
            view_of(dasp_), grid_, load, pieces, x, y, accumulate);
        check_launch("dasp classes");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const Dasp<Value, DeviceArray>& stored() const { return dasp_; }
    [[nodiscard]] Offset launched_threads() const { return grid_.end * threads_per_block; }

private:
    Dasp<Value, DeviceArray> dasp_;
    DaspGrid grid_;
    cudaStream_t stream_;
    DeviceMemory sums_;
    DeviceMemory counters_;
    std::int64_t bytes_;
};

}  // namespace workbench::dasp
