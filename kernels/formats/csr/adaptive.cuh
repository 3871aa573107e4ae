// CSR by tiles of rows (adaptive.hpp): each warp takes a tile. Its products pass through the warp's shared memory to the lanes
// of their rows; a tile that is one row, or a part of one, is added up in registers. If several blocks share a row, each writes
// a partial sum, and the last of them adds these up in order.
//
// Races: each row of y has one writer: the lane that has the row's sum, the first thread of the block that has the row or, if
// blocks share the row, the first thread of the last block. One block writes each partial sum and then, after a fence, counts
// itself; the block that counts last sees all of them and reads them from L2, where they were written. The count returns to 0
// as it ends. The lanes of one warp write and read the products of a tile, with __syncwarp between; the sums of the warps of a
// block are written before the barrier that precedes reading them.
#pragma once

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/packets.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/csr/adaptive.hpp"
#include "kernels/formats/csr/layout.hpp"

namespace workbench::csr_adaptive {

constexpr int tile_threads = 32 * adaptive_warps;

/// The nonzeros of a tile in a round of loads, counted from `base`.
struct Round {
    Offset base = 0;
    int begin = 0;
    int end = 0;
};

/// The products of a round. A lane without a nonzero of its own loads the last one again, or one before the tile, so that no
/// load is behind a branch and all are in flight together. whole: the last packet is within the arrays.
template <typename Shape, bool whole, typename Value>
__device__ __forceinline__ void multiply_round(const auto& csr, const Round& round, int lane, const auto& packets,
                                               const Value* __restrict__ x,
                                               Packet<Value, Shape::width> (&products)[Shape::loads]) {
    constexpr int width = Shape::width;
    const auto [base, begin, end] = round;
    const auto values = csr.values.data() + base;
    const Index* const columns = csr.column_indices.data() + base;
    Packet<Index, width> column[Shape::loads];
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k) {
        const int place = Shape::place(k, lane);
        const auto is_wanted = [&](int i) { return place + i >= round.begin && place + i < round.end; };
        if constexpr (whole) {
            const int there = min(place, (end - 1) / width * width);
            column[k] = packets.template load<width>(columns + there, is_wanted);
            products[k] = converted<Value>(packets.template load<width>(values + there, is_wanted));
        } else {
#pragma unroll
            for (int i = 0; i < width; ++i) {
                const int there = min(place + i, end - 1);
                column[k].elements[i] = packets.load_one(columns + there, is_wanted(i));
                products[k].elements[i] = packets.load_one(values + there, is_wanted(i));
            }
        }
    }
    if constexpr (HasLineValues<decltype(csr)>) {
        if (csr.column_values.size() > 0) {
#pragma unroll
            for (int k = 0; k < Shape::loads; ++k) {
#pragma unroll
                for (int i = 0; i < width; ++i) {
                    products[k].elements[i] = __ldg(csr.column_values.data() + column[k].elements[i]);
                }
            }
        }
    }
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k) {
#pragma unroll
        for (int i = 0; i < width; ++i) products[k].elements[i] *= x[column[k].elements[i]];
    }
}

template <typename Shape, typename Value>
__device__ __forceinline__ void multiply_round(const auto& csr, Round round, int lane, const auto& packets,
                                               const Value* __restrict__ x,
                                               Packet<Value, Shape::width> (&products)[Shape::loads]) {
    round.end = min(round.end, Shape::capacity);
    if (round.base + round.end + Shape::width <= csr.values.size() + 1) {
        multiply_round<Shape, true>(csr, round, lane, packets, x, products);
    } else {
        multiply_round<Shape, false>(csr, round, lane, packets, x, products);
    }
}

/// The sum of a tile of one row, for the first lane.
template <typename Shape, typename Value>
__device__ __forceinline__ Value sum_of_tile(const auto& csr, const RowTile& tile, int lane, const auto& packets,
                                             const Value* __restrict__ x) {
    if (tile.nonzeros == 0) return 0;
    Offset base = aligned_down(tile.first);
    int begin = static_cast<int>(tile.first - base);
    Value sum = 0;
    for (int end = begin + tile.nonzeros; end > 0; end -= Shape::capacity) {
        Packet<Value, Shape::width> products[Shape::loads];
        multiply_round<Shape>(csr, {base, begin, end}, lane, packets, x, products);
#pragma unroll
        for (int k = 0; k < Shape::loads; ++k) {
#pragma unroll
            for (int i = 0; i < Shape::width; ++i) {
                const int place = Shape::place(k, lane) + i;
                sum += place >= begin && place < end ? products[k].elements[i] : Value{0};
            }
        }
        base += Shape::capacity;
        begin -= Shape::capacity;
    }
    return sum_over_warp(sum);
}

/// Multiplies a tile of several rows. shared: [Shape::capacity], of this warp.
template <typename Shape, typename Value>
__device__ __forceinline__ void multiply_rows_of_tile(const auto& csr, const RowTile& tile, int lane, const auto& packets,
                                                      Value* shared, const ProductVectors<Value>& vectors) {
    const Offset base = aligned_down(tile.first);
    const int rows = tile.rows;
    const int lanes = lanes_of_rows(rows);
    const int rows_at_a_time = 32 / lanes;
    int row = lane / lanes;
    const Offset* const offsets = csr.row_offsets.data() + tile.row;
    int begin_of_row = 0;
    int end_of_row = 0;
    const auto find_row = [&] {
        if (row >= rows) return;
        begin_of_row = static_cast<int>(__ldg(offsets + row) - base);
        end_of_row = static_cast<int>(__ldg(offsets + row + 1) - base);
    };
    find_row();

    if (tile.nonzeros > 0) {
        Packet<Value, Shape::width> products[Shape::loads];
        const int begin = static_cast<int>(tile.first - base);
        multiply_round<Shape>(csr, {base, begin, begin + tile.nonzeros}, lane, packets, vectors.x, products);
#pragma unroll
        for (int k = 0; k < Shape::loads; ++k) {
            *reinterpret_cast<Packet<Value, Shape::width>*>(shared + Shape::place(k, lane)) = products[k];
        }
    }
    __syncwarp();

    for (int first = 0; first < rows; first += rows_at_a_time) {
        Value sum = 0;
        if (row < rows) {
#pragma unroll 4
            for (int place = begin_of_row + lane % lanes; place < end_of_row; place += lanes) sum += shared[place];
        }
        sum = sum_over_lanes(sum, lanes);
        if (row < rows && lane % lanes == 0) vectors.put(tile.row + row, times_row_value(csr, tile.row + row, sum));
        row += rows_at_a_time;
        find_row();
    }
}

/// The sum over the warps of a block, each of which has its own in its first lane, for the first thread. Contains a barrier.
template <typename Value>
__device__ __forceinline__ Value sum_over_warps(Value sum, Value* of_warps) {
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    Value all = 0;
    if (threadIdx.x == 0) {
        for (int warp = 0; warp < adaptive_warps; ++warp) all += of_warps[warp];
    }
    return all;
}

/// The first warp of each block that has a part of the row calls it, with the block's sum in its first lane. Returns true in
/// the last block, where the sum in the first lane is now that of the row. *count is 0 before and after a product.
template <typename Value>
__device__ __forceinline__ bool add_up_blocks(const SplitRow& split, unsigned* count, Value* __restrict__ partial_sums,
                                              Value& sum) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    bool is_last = false;
    if (lane == 0) {
        partial_sums[blockIdx.x] = sum;
        __threadfence();
        const auto last = static_cast<unsigned>(split.blocks) - 1;
        is_last = atomicInc(count, last) == last;
        __threadfence();
    }
    if (__shfl_sync(~0U, static_cast<int>(is_last), 0) == 0) return false;
    __syncwarp();
    sum = 0;
    for (Index block = lane; block < split.blocks; block += 32) sum += __ldcg(partial_sums + split.first_block + block);
    sum = sum_over_warp(sum);
    return true;
}

template <typename Shape, typename Arrays, typename Packets, typename Value>
__global__ void __launch_bounds__(tile_threads, Shape::resident_blocks)
    multiply_tiles(const __grid_constant__ Arrays csr, const __grid_constant__ RowTiles<ArrayView> all,
                   const Packets matrix_packets, const Value* __restrict__ x, Value* __restrict__ y,
                   Value* __restrict__ partial_sums, unsigned* __restrict__ counts, bool accumulate) {
    __shared__ alignas(16) Value products[adaptive_warps][Shape::capacity];
    const auto packets = packets_of_block(csr.values, matrix_packets);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const Offset number = static_cast<Offset>(blockIdx.x) * adaptive_warps + warp;
    RowTile tile;
    if (number < all.tiles.size()) tile = all.tiles[number];
    const ProductVectors<Value> vectors{x, y, accumulate};
    if (tile.rows > 1) return multiply_rows_of_tile<Shape>(csr, tile, lane, packets, products[warp], vectors);
    Value sum = sum_of_tile<Shape>(csr, tile, lane, packets, x);
    if (blockIdx.x >= all.split_of_block.size()) {
        if (lane == 0 && tile.rows == 1) vectors.put(tile.row, times_row_value(csr, tile.row, sum));
        return;
    }
    sum = sum_over_warps(sum, products[0]);  // no warp of this block has other products
    if (warp != 0) return;
    const Index split = all.split_of_block[blockIdx.x];
    if (split >= 0 && !add_up_blocks(all.split_rows[split], counts + split, partial_sums, sum)) return;
    if (lane == 0) vectors.put(tile.row, times_row_value(csr, tile.row, sum));
}

#ifndef __CUDACC_RTC__  // NVRTC compiles the kernels from what is above

template <typename Shape, ValueType Value, typename Stored = FullCsr<Value>>
class AdaptiveKernel final : public Kernel<Value> {
public:
    AdaptiveKernel(const CsrLayout<Value>& layout, const Stored& csr, Device& device)
        : AdaptiveKernel(copy_to(device, csr, "csr"), layout.bytes_to_move(), csr.row_offsets, device) {}
    /// For arrays that are on the device. bytes: Layout::bytes_to_move. row_offsets: a copy on the host.
    AdaptiveKernel(InStorage<Stored, DeviceArray>&& csr, std::int64_t bytes, const HostArray<Offset>& row_offsets,
                   Device& device)
        : AdaptiveKernel(std::move(csr), bytes, cut_into_tiles(row_offsets, Shape::capacity, Shape::limits), device) {}

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingPackets{}, x, y, accumulate); }

    void multiply(const auto& packets, const Value* x, Value* y, bool accumulate) const {
        const RowTiles<ArrayView> all = view_of(tiles_);
        if (all.tiles.size() == 0) return;
        const auto csr = view_of(csr_);
        Value* const sums = partial_sums_.template as<Value>();
        auto* const counts = counts_.as<unsigned>();
        const unsigned bytes = bytes_of_dictionary(csr.values);
        if constexpr (is_compiled_in) {
            multiply_tiles<Shape>
                <<<blocks(), tile_threads, bytes, stream_>>>(csr, all, packets, x, y, sums, counts, accumulate);
            check_launch("csr adaptive");
        } else {
            loop_->launch(blocks(), tile_threads, bytes, csr, all, packets, x, y, sums, counts, accumulate);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const InStorage<Stored, DeviceArray>& stored() const { return csr_; }
    [[nodiscard]] Offset launched_threads() const { return Offset{blocks()} * tile_threads; }

private:
    AdaptiveKernel(InStorage<Stored, DeviceArray>&& csr, std::int64_t bytes, const RowTiles<HostArray>& tiles, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_(bytes + bytes_of_tiles(tiles, sizeof(Value))),
          csr_(std::move(csr)),
          tiles_(copy_to(device, tiles, "csr adaptive")),
          partial_sums_(device.allocate(tiles.split_of_block.size() * sizeof(Value), "csr adaptive partial sums")),
          counts_(device.allocate(tiles.split_rows.size() * sizeof(unsigned), "csr adaptive counts")) {
        device.zero(counts_.address(), counts_.bytes());
        if constexpr (!is_compiled_in) {
            const std::string name = with_types<Shape, Arrays, StreamingPackets, Value>("csr_adaptive::multiply_tiles");
            loop_.emplace("csr/adaptive.cuh", name + ">", device);
        }
    }

    using Arrays = InStorage<Stored, ArrayView>;
    /// NVRTC's kernel for values in f32 takes 2.5 % longer (docs/results/run-time-kernels.md).
    static constexpr bool is_compiled_in = HasFullValues<Arrays, Value> || HasFullValues<Arrays, float>;

    [[nodiscard]] unsigned blocks() const { return blocks_for(tiles_.tiles.size(), adaptive_warps); }

    cudaStream_t stream_;
    std::int64_t bytes_;
    InStorage<Stored, DeviceArray> csr_;
    RowTiles<DeviceArray> tiles_;
    DeviceMemory partial_sums_;  // [shared blocks]
    DeviceMemory counts_;        // [split rows] blocks that have written their partial sums
    std::optional<RunTimeLoop> loop_;
};

#endif

}  // namespace workbench::csr_adaptive
