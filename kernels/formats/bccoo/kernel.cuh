// BCCOO on a GPU: each warp takes a tile, each lane a run of blocks. A lane adds up its blocks and writes the block rows that
// begin and end in its run. A segmented sum over the thread block joins the sums that lanes leave open, and a second kernel
// carries the sum that a thread block leaves open to the end of its block row (carries.cuh). Additional thread blocks write the
// rows without blocks.
//
// Races: a row of y is written by the one lane in whose run its block row ends or, where it has no blocks, by one thread of the
// additional thread blocks. One thread writes the carried sum of a thread block. Only segmented_sums uses shared memory.
#pragma once

#include "kernels/common/device_code/carries.cuh"
#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/bccoo/layout.hpp"

namespace workbench::bccoo {

/// The size of the matrix's blocks, and how many of them a lane loads before it uses the first; a divisor of its run.
template <int block_height, int block_width, int blocks_in_flight>
struct BlockOfSize {
    static constexpr int height = block_height;
    static constexpr int width = block_width;
    static constexpr int area = height * width;
    static constexpr int in_flight = blocks_in_flight;
};

template <typename Shape, typename Value>
struct BlockRowVectors {
    ProductVectors<Value> of;
    Index row_count;

    __device__ __forceinline__ void put(Index block_row, const SumsOfRows<Value, Shape::height>& sums) const {
        const Offset first = Offset{block_row} * Shape::height;
#pragma unroll
        for (int r = 0; r < Shape::height; ++r) {
            if (Shape::height == 1 || first + r < row_count) of.put(first + r, sums.of[r]);
        }
    }
};

struct LaneRun {
    Offset tile = 0;
    int lane = 0;
    unsigned ends = 0;  // bit k: the lane's block k is the last of its block row
};

/// The sums of a lane's run.
template <typename Shape, typename Value>
struct LaneSums {
    Segment<SumsOfRows<Value, Shape::height>> own;
    SumsOfRows<Value, Shape::height> first{};  // up to the first end: earlier lanes may have blocks of that block row
    Index row = 0;                             // open at the end of the run, counted as in the layout
};

/// x of the columns of a block; 0 for columns beyond the last.
template <typename Shape, typename Value>
__device__ __forceinline__ void load_x(const Value* __restrict__ x, Index block_column, Index column_count,
                                       Value (&x_of_block)[Shape::width]) {
    const Offset first = Offset{block_column} * Shape::width;
#pragma unroll
    for (int c = 0; c < Shape::width; ++c) {
        x_of_block[c] = c == 0 || first + c < column_count ? x[first + c] : Value{0};
    }
}

/// narrow: the tile stores columns as differences.
template <typename Shape, bool narrow, typename Value>
__device__ __forceinline__ void sum_run(const auto& bccoo, const LaneRun& of_lane, const auto& load,
                                        const BlockRowVectors<Shape, Value>& vectors, LaneSums<Shape, Value>& sums) {
    constexpr int in_flight = Shape::in_flight;
    const auto [tile, lane, ends] = of_lane;
    const int run = bccoo.blocks_per_lane;
    const Offset first_column = bccoo_column_place(bccoo.column_tiles[tile], run, 0, lane);
    auto values = bccoo.values.data() + bccoo_slot(tile, run, Shape::area, 0, lane);
    Index column = load(bccoo.first_columns.data() + tile * bccoo_lanes + lane);
    for (int first = 0; first < run; first += in_flight) {
        Value value[in_flight][Shape::area];
        Index next[in_flight];
        Value x_of_block[in_flight][Shape::width];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const Offset place = first_column + (first + u) * bccoo_lanes;
            if (u == 0 && first == 0) {
                next[u] = narrow ? 0 : column;
            } else if constexpr (narrow) {
                next[u] = load(bccoo.column_steps.data() + place);
            } else {
                next[u] = load(bccoo.wide_columns.data() + place);
            }
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int e = 0; e < Shape::area; ++e) value[u][e] = load(values + (u * Shape::area + e) * bccoo_lanes);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            column = narrow ? column + next[u] : next[u];
            load_x<Shape>(vectors.of.x, column, bccoo.column_count, x_of_block[u]);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int e = 0; e < Shape::area; ++e) {
                sums.own.open.of[e / Shape::width] += value[u][e] * x_of_block[u][e % Shape::width];
            }
            if ((ends >> (first + u) & 1U) == 0) continue;
            if (sums.own.has_end) {
                vectors.put(bccoo.block_row(sums.row), sums.own.open);
            } else {
                sums.first = sums.own.open;
            }
            sums.own = {true, {}};
            ++sums.row;
        }
        values += in_flight * Shape::area * bccoo_lanes;
    }
}

/// The sum over the lanes before this one. The whole warp calls it.
__device__ __forceinline__ int sum_of_lanes_before(int own, int lane) {
    int up_to = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = from_lane_before(up_to, distance);
        if (lane >= distance) up_to += before;
    }
    return up_to - own;
}

constexpr int threads = 128;  // of a block
constexpr int warps = threads / bccoo_lanes;

/// The least that a multiprocessor holds: values of larger blocks take more registers.
template <typename Shape>
constexpr int resident_threads = Shape::area == 1 ? tuned::bccoo_resident_threads : tuned::bccoo_resident_threads_of_blocks;

template <typename Shape, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads, resident_threads<Shape> / threads)
    multiply_tiles(const __grid_constant__ Stored bccoo, const Load load, unsigned blocks, const Value* __restrict__ x,
                   Value* __restrict__ y, const Carried<Value, Shape::height> carried, bool accumulate) {
    const BlockRowVectors<Shape, Value> vectors{{x, y, accumulate}, bccoo.row_count};
    if (blockIdx.x >= blocks) {
        const Offset number = static_cast<Offset>(blockIdx.x - blocks) * threads + threadIdx.x;
        if (number < bccoo.empty_block_rows.size()) vectors.put(bccoo.empty_block_rows[number], {});
        return;
    }
    __shared__ SegmentsOfWarps<threads, SumsOfRows<Value, Shape::height>> of_warps;
    const int lane = static_cast<int>(threadIdx.x) % bccoo_lanes;
    const Offset tile = static_cast<Offset>(blockIdx.x) * warps + threadIdx.x / bccoo_lanes;
    LaneSums<Shape, Value> sums;
    Index own_first_row = 0;
    unsigned ends = 0;
    if (tile < bccoo.tiles()) {
        ends = load(bccoo.ends.data() + tile * bccoo_lanes + lane);
        sums.row = bccoo.first_block_rows[tile] + sum_of_lanes_before(__popc(ends), lane);
        own_first_row = sums.row;
        if (bccoo.column_tiles[tile] >= 0) {
            sum_run<Shape, true>(bccoo, {tile, lane, ends}, load, vectors, sums);
        } else {
            sum_run<Shape, false>(bccoo, {tile, lane, ends}, load, vectors, sums);
        }
    }
    const auto joined_sums = segmented_sums(sums.own, of_warps);
    if (sums.own.has_end) vectors.put(bccoo.block_row(own_first_row), joined_sums.carried_in + sums.first);
    // The last thread block leaves nothing open. Any other leaves the last lane's block row open unless that row ends with the
    // lane's last block.
    if (blockIdx.x + 1 == blocks || threadIdx.x + 1 != threads) return;
    if ((ends >> (bccoo.blocks_per_lane - 1) & 1U) == 0) {
        carried.carry(blockIdx.x, bccoo.block_row(sums.row), joined_sums.left_open.of);
    } else {
        carried.nothing(blockIdx.x);
    }
}

#ifndef __CUDACC_RTC__  // NVRTC compiles the kernels from what is above

/// Calls use(BlockShape) with the shape for the layout.
void with_block_shape(const auto& bccoo, const auto& use) {
    with_bccoo_block(bccoo, [&]<int height, int width>(Known<height>, Known<width>) {
        constexpr int in_flight = tuned::bccoo_blocks_in_flight(height * width);
        if constexpr (in_flight > 4) {
            if (bccoo.blocks_per_lane < in_flight) return use(BlockOfSize<height, width, 4>{});
        }
        return use(BlockOfSize<height, width, in_flight>{});
    });
}

template <ValueType Value, typename Stored = Bccoo<Value, HostArray>>
class LanesKernel final : public Kernel<Value> {
public:
    LanesKernel(const BccooLayout<Value>& layout, const Stored& bccoo, Device& device)
        : stream_(cuda_device(device).stream()),
          bccoo_(copy_to(device, bccoo, "bccoo")),
          blocks_(blocks_for(bccoo.tiles(), warps)),
          carries_(device, Offset{blocks_} - 1, bccoo.block_height, "bccoo"),
          bytes_(layout.bytes_to_move() + Carries<Value>::bytes(Offset{blocks_} - 1, bccoo.block_height)) {
        if constexpr (!is_compiled_in) {
            with_block_shape(bccoo_, [&]<typename Shape>(Shape) {
                const std::string name = with_types<Shape, StreamingLoad, Arrays, Value>("bccoo::multiply_tiles");
                loop_.emplace("bccoo/kernel.cuh", name + ">", device);
            });
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        const auto bccoo = view_of(bccoo_);
        const unsigned empty_blocks = accumulate ? 0 : blocks_for(bccoo.empty_block_rows.size(), threads);
        if (blocks_ + empty_blocks == 0) return;
        with_block_shape(bccoo, [&]<typename Shape>(Shape) {
            const Carried<Value, Shape::height> carried = carries_.template view<Shape::height>();
            if constexpr (is_compiled_in) {
                multiply_tiles<Shape>
                    <<<blocks_ + empty_blocks, threads, 0, stream_>>>(bccoo, load, blocks_, x, y, carried, accumulate);
                check_launch("bccoo tiles");
            } else {
                loop_->launch(blocks_ + empty_blocks, threads, 0, bccoo, load, blocks_, x, y, carried, accumulate);
            }
            carries_.add_to(y, bccoo.row_count, stream_);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const InStorage<Stored, DeviceArray>& stored() const { return bccoo_; }
    [[nodiscard]] Offset launched_threads() const { return Offset{blocks_} * threads; }

private:
    using Arrays = InStorage<Stored, ArrayView>;
    static constexpr bool is_compiled_in = HasFullValues<Arrays, Value>;

    cudaStream_t stream_;
    InStorage<Stored, DeviceArray> bccoo_;
    unsigned blocks_;  // thread blocks that have tiles
    Carries<Value> carries_;
    std::int64_t bytes_;
    std::optional<RunTimeLoop> loop_;
};

#endif

}  // namespace workbench::bccoo
