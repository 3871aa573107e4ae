// HOLA on a GPU: each thread block takes a share. It loads its nonzeros side by side and leaves the products in shared memory.
// If the pieces of rows in it are short, one or several lanes add up each; if one is long, every thread adds up neighbouring
// products, and a segmented sum over the block joins them. A second kernel completes the row that continues in the next share
// (carries.cuh).
//
// Races: a row of y is written by the block of the share in which it ends, by the one thread that has the sum of its piece. One
// thread writes the carried sum of a block. In shared memory, threads write the products that they load before the first
// barrier; in a segmented sum each thread overwrites only its own products, and another barrier precedes reading the sums. The
// bits of ends are zeroed before the first barrier, set atomically before the second and read after it.
#pragma once

#include "kernels/common/device_code/carries.cuh"
#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/hola/layout.hpp"

namespace workbench::hola {

/// Shared memory of a block.
template <typename Shape, typename Value>
struct ShareMemory {
    static constexpr int words = (Shape::size + 31) / 32;

    Value products[Shape::size];
    unsigned ends[words + 1];  // one bit a nonzero, set for the last of its row
    SegmentsOfWarps<Shape::threads, Value> of_warps;

    __device__ __forceinline__ void set_end(int place) { atomicOr(ends + place / 32, 1U << place % 32); }
    /// The bits of the nonzeros from `place` on, up to 32.
    [[nodiscard]] __device__ __forceinline__ unsigned ends_from(int place) const {
        return __funnelshift_r(ends[place / 32], ends[place / 32 + 1], place % 32);
    }
};

/// The nonzeros that a thread keeps in registers between loading them and loading x.
template <typename Shape, typename Value>
struct ThreadShare {
    Value values[Shape::loads];
    Index columns[Shape::loads];

    /// first: the first nonzero of the share. whole: the share is full, so that no load needs a test.
    template <bool whole>
    __device__ __forceinline__ void load_from(const auto& hola, Offset first, int nonzeros, const auto& load) {
        const auto from_values = hola.values.data() + first;
        const Index* const from_columns = hola.column_indices.data() + first;
#pragma unroll
        for (int k = 0; k < Shape::loads; ++k) {
            const int place = Shape::place(k, static_cast<int>(threadIdx.x));
            if (!whole && place >= nonzeros) continue;
            columns[k] = load(from_columns + place);
            values[k] = load(from_values + place);
        }
    }

    template <bool whole>
    __device__ __forceinline__ void multiply_to(Value* products, int nonzeros, const Value* __restrict__ x) const {
#pragma unroll
        for (int k = 0; k < Shape::loads; ++k) {
            const int place = Shape::place(k, static_cast<int>(threadIdx.x));
            if (whole || place < nonzeros) products[place] = values[k] * x[columns[k]];
        }
    }
};

/// Writes the sums of a share's pieces.
template <typename Value>
struct ShareResults {
    const HolaShare& share;
    ProductVectors<Value> vectors;
    Carried<Value> carried;

    __device__ __forceinline__ void put(Offset number, HolaPiece piece, Value sum) const {
        if (number < share.rows) {
            vectors.put(share.first_row + number, sum);
        } else if (piece.length() > 0) {
            carried.carry(blockIdx.x, static_cast<Index>(share.first_row + number), {sum});
        } else {
            carried.nothing(blockIdx.x);
        }
    }
};

/// Adds up each piece by `lanes` neighbouring threads. piece: this thread's first.
template <typename Shape, typename Value>
__device__ __forceinline__ void sum_by_lanes(const auto& hola, int lanes, HolaPiece piece, const auto& load,
                                             const Value* products, const ShareResults<Value>& results) {
    const HolaShare& share = results.share;
    const int thread = static_cast<int>(threadIdx.x);
    const Index pieces = share.pieces();
    const int pieces_at_once = Shape::threads / lanes;
    Offset number = thread / lanes;
    for (Offset first = 0; first < pieces; first += pieces_at_once) {
        const HolaPiece own = piece;
        const Offset next = number + pieces_at_once;
        if (next < pieces) piece = piece_of(hola, share, next, load);
        Value sum = 0;
        if (number < pieces) {
#pragma unroll 4
            for (int place = own.begin + thread % lanes; place < own.end; place += lanes) sum += products[place];
        }
        sum = sum_over_lanes(sum, lanes);
        if (number < pieces && thread % lanes == 0) results.put(number, own, sum);
        number = next;
    }
}

/// Adds up all pieces by all threads, each of which adds up neighbouring products. The sum of a row replaces its last product.
template <typename Shape, typename Value>
__device__ __forceinline__ void sum_by_segments(const auto& hola, const auto& load, ShareMemory<Shape, Value>& memory,
                                                const ShareResults<Value>& results) {
    const HolaShare& share = results.share;
    const int thread = static_cast<int>(threadIdx.x);
    const Index pieces = share.pieces();
    for (Offset number = thread; number < share.rows; number += Shape::threads) {
        const HolaPiece piece = piece_of(hola, share, number, load);
        if (piece.length() > 0) memory.set_end(piece.end - 1);
    }
    __syncthreads();
    const int first = thread * Shape::loads;
    unsigned ends = memory.ends_from(first);
    Segment<Value> own;
    Value first_sum = 0;
    int first_end = 0;
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k, ends >>= 1) {
        if (first + k >= share.nonzeros) continue;
        own.open += memory.products[first + k];
        if (ends % 2 == 0) continue;
        if (own.has_end) {
            memory.products[first + k] = own.open;
        } else {
            first_sum = own.open;
            first_end = first + k;
        }
        own = {true, 0};
    }
    const SegmentedSums<Value> sums = segmented_sums(own, memory.of_warps);
    if (own.has_end) memory.products[first_end] = sums.carried_in + first_sum;
    __syncthreads();
    for (Offset number = thread; number < pieces; number += Shape::threads) {
        const HolaPiece piece = piece_of(hola, share, number, load);
        const Value at_end = piece.length() > 0 ? memory.products[piece.end - 1] : Value{0};
        results.put(number, piece, number < share.rows ? at_end : sums.left_open);
    }
}

template <typename Shape, int resident_blocks, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(Shape::threads, resident_blocks)
    multiply_shares(const __grid_constant__ Stored hola, const Load load, const Value* __restrict__ x, Value* __restrict__ y,
                    const Carried<Value> carried, bool accumulate) {
    __shared__ ShareMemory<Shape, Value> memory;
    const int thread = static_cast<int>(threadIdx.x);
    const Offset first = static_cast<Offset>(blockIdx.x) * Shape::size;
    const auto nonzeros = static_cast<int>(min(hola.values.size() - first, Offset{Shape::size}));
    const bool is_whole = nonzeros == Shape::size;
    ThreadShare<Shape, Value> own;
    if (is_whole) {
        own.template load_from<true>(hola, first, nonzeros, load);
    } else {
        own.template load_from<false>(hola, first, nonzeros, load);
    }
    // The rows of the nonzeros are looked up while these are in flight.
    const HolaShare share = share_of(hola, blockIdx.x, Shape::size);
    const ShareResults<Value> results{share, {x, y, accumulate}, carried};
    const Index pieces = share.pieces();
    const int lanes = lanes_of_pieces(pieces, Shape::threads);
    HolaPiece piece;
    if (thread / lanes < pieces) piece = piece_of(hola, share, thread / lanes, load);
    for (int i = thread; i <= ShareMemory<Shape, Value>::words; i += Shape::threads) memory.ends[i] = 0;
    if (is_whole) {
        own.template multiply_to<true>(memory.products, nonzeros, x);
    } else {
        own.template multiply_to<false>(memory.products, nonzeros, x);
    }
    bool is_long = piece.length() > Offset{lanes} * hola.most_per_lane;
    // If there are more pieces than threads, each piece has one lane.
    for (Offset number = Offset{Shape::threads} + thread; number < pieces; number += Shape::threads) {
        is_long |= piece_of(hola, share, number, load).length() > hola.most_per_lane;
    }
    if (__syncthreads_or(is_long)) {
        sum_by_segments<Shape>(hola, load, memory, results);
    } else {
        sum_by_lanes<Shape>(hola, lanes, piece, load, memory.products, results);
    }
}

/// The fewer nonzeros a thread has in flight, the more threads a multiprocessor must hold.
template <typename Shape>
constexpr int resident_blocks =
    (Shape::loads <= 7 ? tuned::hola_resident_threads : tuned::hola_resident_threads_of_many) / Shape::threads;

#ifndef __CUDACC_RTC__  // NVRTC compiles the kernels from what is above

template <ValueType Value, typename Stored = Hola<Value, HostArray>>
class HolaKernel final : public Kernel<Value> {
public:
    HolaKernel(const HolaLayout<Value>& layout, const Stored& hola, Device& device)
        : stream_(cuda_device(device).stream()),
          hola_(copy_to(device, hola, "hola")),
          carries_(device, hola.shares() - 1, 1, "hola"),
          bytes_(layout.bytes_of_product()) {
        if constexpr (!is_compiled_in) {
            with_hola_shape(hola_, [&]<typename Shape>(Shape) {
                const std::string shape =
                    with_types<Shape>("hola::multiply_shares") + ", " + std::to_string(resident_blocks<Shape>);
                loop_.emplace("hola/kernel.cuh", with_types<StreamingLoad, Arrays, Value>(shape) + ">", device);
            });
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        const auto hola = view_of(hola_);
        const auto blocks = static_cast<unsigned>(hola.shares());
        if (blocks == 0) return;
        with_hola_shape(hola, [&]<typename Shape>(Shape) {
            if constexpr (is_compiled_in) {
                multiply_shares<Shape, resident_blocks<Shape>>
                    <<<blocks, Shape::threads, 0, stream_>>>(hola, load, x, y, carries_.view(), accumulate);
                check_launch("hola shares");
            } else {
                loop_->launch(blocks, Shape::threads, 0, hola, load, x, y, carries_.view(), accumulate);
            }
        });
        carries_.add_to(y, hola.row_count, stream_);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const InStorage<Stored, DeviceArray>& stored() const { return hola_; }
    [[nodiscard]] Offset launched_threads() const { return hola_.shares() * hola_.threads; }

private:
    using Arrays = InStorage<Stored, ArrayView>;
    static constexpr bool is_compiled_in = HasFullValues<Arrays, Value>;

    cudaStream_t stream_;
    InStorage<Stored, DeviceArray> hola_;
    Carries<Value> carries_;
    std::int64_t bytes_;
    std::optional<RunTimeLoop> loop_;
};

#endif

}  // namespace workbench::hola
