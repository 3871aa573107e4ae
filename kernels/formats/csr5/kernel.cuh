// CSR5 on a GPU: each warp takes a tile, each lane sigma consecutive nonzeros. A segmented sum over the warp brings the part of
// a row that continues from an earlier lane back to that lane. The first warps multiply the rows of the tail, the last threads
// zero the empty rows. A second kernel, the calibrator, adds the part of a row that began in an earlier tile.
//
// Races: a row of y is written by the lane in which it begins, by the warp that has it in the tail or, if it is empty, by one
// thread. Each tile has a sum for the calibrator, which starts after the first kernel has ended and in which one thread has the
// end of the row. A third kernel adds what several blocks of the calibrator have of one row. Only the calibrator uses shared
// memory, with a barrier between writes and reads.
#pragma once

#include <span>

#include "kernels/common/device_code/carries.cuh"
#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/csr5/layout.hpp"

namespace workbench::csr5 {

constexpr int lanes = 32;
constexpr int tile_threads = csr5_warps * lanes;

template <typename Value>
struct SegmentVectors {
    const Value* x;
    Value* y;
    Value* first_sums;  // [tiles, and the tail] the sum of the first segment if its row began before, otherwise 0
    bool accumulate;
};

/// Stores the sum of a segment.
template <bool marked, typename Stored, typename Value>
struct PutSegment {
    const Csr5<Stored, ArrayView>& csr5;
    const SegmentVectors<Value>& vectors;
    Offset tile;
    Index first_row;
    bool begins_row;

    __device__ __forceinline__ void operator()(int segment, Value sum) const {
        if (segment == 0 && !begins_row) {
            vectors.first_sums[tile] = sum;
            return;
        }
        const Index behind = marked ? __ldg(csr5.empty_offset.data() + csr5.empty_offset_ptr[tile] + segment) : segment;
        write_result(vectors.y + first_row + behind, sum, vectors.accumulate);
    }
};

/// The segmented sum of a tile's products: the lane in which a segment begins calls put(segment, sum).
template <int sigma, typename Value, typename Put>
__device__ __forceinline__ void sum_segments(const Csr5Lane& of_lane, const Value (&products)[sigma], int lane,
                                             const Put& put) {
    const std::uint32_t begins = of_lane.bit_flag | (lane == 0 ? 1U : 0U);
    int segment = static_cast<int>(of_lane.y_offset) - 1;
    Value sum = 0;
    Value of_earlier_lanes = 0;  // of the segment that began before this lane
    bool began = false;
#pragma unroll
    for (int i = 0; i < sigma; ++i) {
        if ((begins >> i & 1U) != 0) {
            if (began) {
                put(segment, sum);
            } else {
                of_earlier_lanes = sum;
            }
            sum = 0;
            began = true;
            ++segment;
        }
        sum += products[i];
    }
    if (!began) of_earlier_lanes = sum;
    // First the sum of the next lane, then of twice as many lanes at a time, as far as the segment reaches.
    Value behind = __shfl_down_sync(~0U, of_earlier_lanes, 1);
    if (lane == lanes - 1) behind = 0;
    const auto reach = static_cast<int>(of_lane.seg_offset);
    for (int distance = 1; __any_sync(~0U, distance <= reach); distance *= 2) {
        const Value more = __shfl_down_sync(~0U, behind, distance);
        if (distance <= reach) behind += more;
    }
    if (began) put(segment, sum + behind);
}

template <int sigma, typename Load, typename Stored, typename Value>
__device__ __forceinline__ void multiply_tile(const Csr5<Stored, ArrayView>& csr5, Offset tile, int lane, const Load& load,
                                              const SegmentVectors<Value>& vectors) {
    constexpr int words = csr5_words(sigma);
    const Offset first = tile * (lanes * sigma) + lane;
    const Index* const columns = csr5.column_indices.data() + first;
    const auto values = csr5.values.data() + first;
    const std::uint32_t* const descriptor = csr5.tile_desc.data() + tile * (words * lanes) + lane;
    Index column[sigma];
    Value products[sigma];
#pragma unroll
    for (int i = 0; i < sigma; ++i) column[i] = load(columns + i * lanes);
#pragma unroll
    for (int i = 0; i < sigma; ++i) products[i] = load(values + i * lanes);
    const std::uint32_t first_word = load(descriptor);
    const std::uint32_t second_word = words == 1 ? 0 : load(descriptor + lanes);
    const std::uint32_t tile_ptr = __ldg(csr5.tile_ptr.data() + tile);
    Value x_of_columns[sigma];
#pragma unroll
    for (int i = 0; i < sigma; ++i) x_of_columns[i] = __ldg(vectors.x + column[i]);
#pragma unroll
    for (int i = 0; i < sigma; ++i) products[i] *= x_of_columns[i];

    const Csr5Lane of_lane = unpacked(first_word, second_word, words);
    const Index first_row = row_of_tile(tile_ptr);
    const bool marked = (tile_ptr & csr5_mark) != 0;
    const bool begins_row = (of_lane.bit_flag & 1U) != 0;  // of lane 0, which alone uses it
    if (marked) {
        sum_segments<sigma>(of_lane, products, lane,
                            PutSegment<true, Stored, Value>{csr5, vectors, tile, first_row, begins_row});
    } else {
        sum_segments<sigma>(of_lane, products, lane,
                            PutSegment<false, Stored, Value>{csr5, vectors, tile, first_row, begins_row});
    }
}

template <typename Load, typename Stored, typename Value>
__device__ __forceinline__ void multiply_tail_row(const Csr5<Stored, ArrayView>& csr5, Index row, int lane, const Load& load,
                                                  const SegmentVectors<Value>& vectors) {
    const Offset begin_of_row = csr5.row_offsets[row];
    const Offset begin = max(begin_of_row, csr5.tail_begin());
    const int count = static_cast<int>(csr5.row_offsets[row + 1] - begin);
    const Value sum = sum_over_warp(sparse_dot<DotPolicy{.entries_in_flight = 4}>(
        csr5.values.data() + (begin + lane), csr5.column_indices.data() + begin + lane, (count - lane + lanes - 1) / lanes,
        lanes, vectors.x, load));
    if (lane != 0) return;
    if (begin > begin_of_row) {
        vectors.first_sums[csr5.tile_count()] = sum;
    } else {
        write_result(vectors.y + row, sum, vectors.accumulate);
    }
}

template <int sigma, typename Load, typename Arrays, typename Value>
__global__ void __launch_bounds__(tile_threads)
    multiply_tiles(const __grid_constant__ Arrays csr5, const __grid_constant__ RowsBesideTiles<ArrayView> beside,
                   const __grid_constant__ Csr5Grid grid, const Load load, const SegmentVectors<Value> vectors) {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const Offset warp = static_cast<Offset>(blockIdx.x) * csr5_warps + threadIdx.x / lanes;
    if (warp < grid.first_tile()) {
        if (warp >= grid.tail_rows) return;
        return multiply_tail_row(csr5, beside.tail_rows[warp], lane, load, vectors);
    }
    if (warp < grid.first_zeroed()) return multiply_tile<sigma>(csr5, warp - grid.first_tile(), lane, load, vectors);
    const Offset zeroed = grid.zeroed_row(warp, lane);
    if (zeroed >= 0) vectors.y[beside.empty_rows[zeroed]] = 0;
}

constexpr int calibrator_threads = 256;

/// Each thread takes a tile. The sums that neighbouring tiles have of one row are added up, and to y where the row ends; a row
/// that continues in the next block is carried.
template <typename Value>
__global__ void __launch_bounds__(calibrator_threads)
    calibrate(const std::uint32_t* __restrict__ tile_ptr, const Value* __restrict__ first_sums, Offset count,
              Value* __restrict__ y, const Carried<Value> carried) {
    __shared__ SegmentsOfWarps<calibrator_threads, Value> of_warps;
    const Offset tile = static_cast<Offset>(blockIdx.x) * calibrator_threads + threadIdx.x;
    const bool is_there = tile < count;
    const Index row = is_there ? row_of_tile(tile_ptr[tile]) : -1;
    const Value own = is_there ? first_sums[tile] : Value{0};
    const bool goes_on = tile + 1 < count && row_of_tile(tile_ptr[tile + 1]) == row;
    const SegmentedSums<Value> sums = segmented_sums(Segment<Value>{!goes_on, goes_on ? own : Value{0}}, of_warps);
    const Value sum = sums.carried_in + own;
    if (is_there && !goes_on && sum != 0) y[row] += sum;
    if (threadIdx.x == calibrator_threads - 1) carried.rows[blockIdx.x] = goes_on ? row : -1;
    if (threadIdx.x == 0) carried.sums[blockIdx.x] = sums.left_open;
}

#ifndef __CUDACC_RTC__  // NVRTC compiles the kernels from what is above

/// Calls use(sigma), a constant.
void with_sigma(const auto& csr5, const auto& use) {
    if constexpr (ConstantMember<std::remove_cvref_t<decltype(csr5.values)>>) {
        with_known<4, 8, 16>(csr5.sigma, use);
    } else {
        with_known<2, 4, 6, 8, 12, 16, 24, 32>(csr5.sigma, use);
    }
}

/// True if a row continues from one block of the calibrator to the next.
inline bool crosses_blocks(const HostArray<std::uint32_t>& tile_ptr, Offset count) {
    for (Offset tile = calibrator_threads; tile < count; tile += calibrator_threads) {
        if (row_of_tile(tile_ptr[tile - 1]) == row_of_tile(tile_ptr[tile])) return true;
    }
    return false;
}

template <ValueType Value, typename Stored = Csr5<Value, HostArray>>
class Csr5TilesKernel final : public Kernel<Value> {
public:
    Csr5TilesKernel(const Csr5Layout<Value>& layout, const Stored& csr5, Device& device)
        : Csr5TilesKernel(layout, csr5, rows_beside_tiles(layout), device) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        multiply(StreamingLoad{}, x, y, accumulate);
        if (count_ < 2) return;
        calibrate<<<blocks_for(count_, calibrator_threads), calibrator_threads, 0, stream_>>>(
            csr5_.tile_ptr.data(), first_sums_.as<Value>(), count_, y, carries_.view());
        check_launch("csr5 calibrator");
        if (crosses_blocks_) carries_.add_to(y, csr5_.row_count, stream_);
    }

    /// The first kernel.
    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        const RowsBesideTiles<ArrayView> beside = view_of(beside_);
        const Csr5Grid grid = Csr5Grid::of(csr5_, beside, accumulate);
        if (grid.blocks() == 0) return;
        const SegmentVectors<Value> vectors{x, y, first_sums_.as<Value>(), accumulate};
        if constexpr (is_compiled_in) {
            with_sigma(csr5_, [&](auto sigma) {
                multiply_tiles<sigma><<<static_cast<unsigned>(grid.blocks()), tile_threads, 0, stream_>>>(
                    view_of(csr5_), beside, grid, load, vectors);
            });
            check_launch("csr5 tiles");
        } else {
            loop_->launch(grid.blocks(), tile_threads, 0, view_of(csr5_), beside, grid, load, vectors);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const InStorage<Stored, DeviceArray>& stored() const { return csr5_; }
    [[nodiscard]] Offset launched_threads() const { return Csr5Grid::of(csr5_, beside_, false).blocks() * tile_threads; }

private:
    Csr5TilesKernel(const Csr5Layout<Value>& layout, const Stored& csr5, const RowsBesideTiles<HostArray>& beside,
                    Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_(csr5_bytes(layout, beside)),
          count_(csr5.tile_count() + (csr5.has_tail() ? 1 : 0)),
          crosses_blocks_(crosses_blocks(csr5.tile_ptr, count_)),
          csr5_(copy_to(device, csr5, "csr5")),
          beside_(copy_to(device, beside, "csr5")),
          first_sums_(to_device(device, std::span<const Value>(HostArray<Value>(count_)), "csr5 sums of first segments")),
          carries_(device, blocks_for(count_, calibrator_threads), 1, "csr5") {
        if constexpr (!is_compiled_in) {
            with_sigma(csr5_, [&](auto sigma) {
                const std::string shape = "csr5::multiply_tiles<" + std::to_string(+sigma);
                loop_.emplace("csr5/kernel.cuh", with_types<StreamingLoad, Arrays, Value>(shape) + ">", device);
            });
        }
    }

    using Arrays = InStorage<Stored, ArrayView>;
    static constexpr bool is_compiled_in = HasFullValues<Arrays, Value>;

    cudaStream_t stream_;
    std::int64_t bytes_;
    Offset count_;  // elements of first_sums_
    bool crosses_blocks_;
    InStorage<Stored, DeviceArray> csr5_;
    RowsBesideTiles<DeviceArray> beside_;
    DeviceMemory first_sums_;
    Carries<Value> carries_;  // between the blocks of the calibrator
    std::optional<RunTimeLoop> loop_;
};

#endif

}  // namespace workbench::csr5
