// Halo on a GPU: each thread block takes a part and keeps the x of its places and the sums of its rows in shared memory.
//
// Races: only the thread block of a part writes its rows of y, after the second barrier. One thread writes each x and each sum
// before the first barrier; between the two, x is only read and sums are only added to, atomically. The order of these
// additions varies: the last bits of rounded sums may differ from run to run, exact sums do not.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <string>

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/halo/layout.hpp"

namespace workbench::halo {

constexpr int most_threads = most_halo_warps * halo_lanes;  // of a block

/// Blocks of `size` x `size` values, and how many of them a lane has in flight: nine values, which with 1024 threads on a
/// multiprocessor are 72 KiB in flight.
template <int block_size>
struct SquareBlock {
    static constexpr int size = block_size;
    static constexpr int area = size * size;
    static constexpr int triangle = size * (size + 1) / 2;
    static constexpr int in_flight = std::clamp(tuned::halo_values / area, 1, 8);
    static constexpr int resident_blocks = tuned::halo_resident_blocks(area);
};

/// The vectors of a part in shared memory.
template <typename Value>
struct SharedVectors {
    Value* x;     // [places * block size]
    Value* sums;  // [own nodes * block size]
};

/// Copies x of a node to a place asynchronously.
template <int size, typename Value>
__device__ __forceinline__ void fetch_node(Value* place, const Value* __restrict__ x, Index node, Index column_count) {
    const Offset first = Offset{node} * size;
#pragma unroll
    for (int e = 0; e < size; ++e) {
        if (e == 0 || first + e < column_count) {
            __pipeline_memcpy_async(place + e, x + first + e, sizeof(Value));
        } else {
            place[e] = 0;
        }
    }
}

/// Adds the product of a symmetric block, of which the upper triangle is given, and x.
template <typename Shape, typename Value>
__device__ __forceinline__ void multiply_triangle(const Value (&values)[Shape::triangle], const Value (&x)[Shape::size],
                                                  Value (&sums)[Shape::size]) {
    int e = 0;
#pragma unroll
    for (int r = 0; r < Shape::size; ++r) {
#pragma unroll
        for (int c = r; c < Shape::size; ++c, ++e) {
            sums[r] += values[e] * x[c];
            if (c > r) sums[c] += values[e] * x[r];
        }
    }
}

/// Fills the places and starts the sums with the product of the diagonal or zero. All threads of the block call it; the places
/// are filled after they have waited for their copies and met at a barrier.
template <typename Shape, typename Value>
__device__ __forceinline__ void fill_places(const auto& halo, const auto& load, const HaloPart& part, Index first_group,
                                            const SharedVectors<Value>& shared, const Value* __restrict__ x) {
    const int threads = static_cast<int>(blockDim.x);
    const Index first = static_cast<Index>(threadIdx.x);
    const auto halo_node = [&](Index i) { return load(halo.halo_nodes.data() + (part.first_halo + i)); };
    // The next node of the halo is loaded while the x of the current one is copied.
    Index node = first < part.halo ? halo_node(first) : 0;
    for (Index i = first; i < part.own || i < part.halo; i += threads) {
        Value values[Shape::triangle];
        Value own_x[Shape::size];
        Value sums[Shape::size] = {};
        if (i < part.own && halo.has_diagonal()) {
            const Offset slot = halo_slot(Offset{first_group} + i / halo_lanes, Shape::triangle, i % halo_lanes);
#pragma unroll
            for (int e = 0; e < Shape::triangle; ++e) values[e] = load(halo.diagonal.data() + (slot + e * halo_lanes));
        }
        if (i < part.cached) {
            const Offset column = Offset{part.first_node + i} * Shape::size;
#pragma unroll
            for (int e = 0; e < Shape::size; ++e) {
                own_x[e] = e == 0 || column + e < halo.column_count ? x[column + e] : Value{0};
            }
        }
        if (i < part.halo) {
            fetch_node<Shape::size>(shared.x + (part.cached + i) * Shape::size, x, node, halo.column_count);
            if (i + threads < part.halo) node = halo_node(i + threads);
        }
        if (i >= part.own) continue;
        if (halo.has_diagonal()) multiply_triangle<Shape>(values, own_x, sums);
#pragma unroll
        for (int e = 0; e < Shape::size; ++e) {
            if (i < part.cached) shared.x[i * Shape::size + e] = own_x[e];
            shared.sums[i * Shape::size + e] = sums[e];
        }
    }
}

template <int size, typename Value>
__device__ __forceinline__ void add_to_place(Value* sums, unsigned place, const Value (&more)[size]) {
#pragma unroll
    for (int e = 0; e < size; ++e) atomicAdd(sums + place * size + e, more[e]);
}

/// A lane's pass through the steps of its warp: blocks are loaded some steps ahead of their use.
template <typename Shape, typename Arrays, typename Load, typename Value>
class LaneSteps {
public:
    __device__ __forceinline__ LaneSteps(const Arrays& halo, const Load& load, Offset warp)
        : halo_(halo),
          load_(load),
          segment_(halo.warp_segments[warp]),
          rest_segment_(halo.rest_segments[warp]),
          step_(halo.warp_steps[warp]),
          end_step_(halo.warp_steps[warp + 1]),
          segment_end_(step_) {
#pragma unroll
        for (int k = 0; k < Shape::in_flight; ++k) load_step(k, step_ + k);
        load_segment();
    }

    __device__ __forceinline__ void multiply(const SharedVectors<Value>& shared) {
        for (; step_ < end_step_; step_ += Shape::in_flight) {
#pragma unroll
            for (int k = 0; k < Shape::in_flight; ++k) {
                if (step_ + k < end_step_) multiply_step(shared, k, step_ + k);
            }
        }
        if (row_ != no_place) add_to_place(shared.sums, row_, sums_);
    }

private:
    /// Computed at each use, to keep the registers for the blocks in flight.
    __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x % halo_lanes); }

    __device__ __forceinline__ const Value* value(Index step) const {
        return halo_.values.data() + halo_slot(step, Shape::area, lane());
    }

    __device__ __forceinline__ void load_step(int k, Index step) {
        column_[k] = no_place;
        if (step >= end_step_) return;
        column_[k] = load_(halo_.column_places.data() + Offset{step} * halo_lanes + lane());
#pragma unroll
        for (int e = 0; e < Shape::area; ++e) value_[k][e] = load_(value(step) + e * halo_lanes);
    }

    /// True if the current segment, the one before segment_, consists of pairs.
    __device__ __forceinline__ bool is_pair() const { return segment_ <= rest_segment_; }

    /// Loads row and end of the next segment, which are not used if it belongs to another warp.
    __device__ __forceinline__ void load_segment() {
        if (segment_ + 1 >= static_cast<Index>(halo_.segment_steps.size())) return;
        next_row_ = load_(halo_.segment_rows.data() + Offset{segment_} * halo_lanes + lane());
        next_end_ = halo_.segment_steps[segment_ + 1];
    }

    __device__ __forceinline__ void begin_segment(const SharedVectors<Value>& shared) {
        if (row_ != no_place) add_to_place(shared.sums, row_, sums_);
        row_ = next_row_;
        segment_end_ = next_end_;
        ++segment_;
        load_segment();
#pragma unroll
        for (int e = 0; e < Shape::size; ++e) {
            sums_[e] = 0;
            x_of_row_[e] = is_pair() && row_ != no_place ? shared.x[row_ * Shape::size + e] : Value{0};
        }
    }

    __device__ __forceinline__ void multiply_step(const SharedVectors<Value>& shared, int k, Index step) {
        if (step == segment_end_) begin_segment(shared);
        const unsigned column = column_[k];
        const bool has_block = column != no_place;
        Value x[Shape::size];
        Value of_mirror[Shape::size] = {};
#pragma unroll
        for (int e = 0; e < Shape::size; ++e) x[e] = has_block ? shared.x[column * Shape::size + e] : Value{0};
#pragma unroll
        for (int e = 0; e < Shape::area; ++e) {
            sums_[e / Shape::size] += value_[k][e] * x[e % Shape::size];
            of_mirror[e % Shape::size] += value_[k][e] * x_of_row_[e / Shape::size];
        }
        load_step(k, step + Shape::in_flight);
        if (is_pair() && has_block) add_to_place(shared.sums, column, of_mirror);
    }

    const Arrays& halo_;
    const Load& load_;
    Index segment_;
    Index rest_segment_;
    Index step_;
    Index end_step_;
    Index segment_end_;
    Index next_end_ = 0;
    unsigned row_ = no_place;
    unsigned next_row_ = no_place;
    unsigned column_[Shape::in_flight];
    Value value_[Shape::in_flight][Shape::area];
    Value sums_[Shape::size] = {};
    Value x_of_row_[Shape::size] = {};
};

/// Adds the blocks whose columns have no place, with x from global memory. Lanes of one row join their sums first, since a row
/// much longer than the others would otherwise be added to again and again.
template <typename Shape, typename Value>
__device__ __forceinline__ void add_far_blocks(const auto& halo, const auto& load, const SharedVectors<Value>& shared, int warp,
                                               int lane, const Value* __restrict__ x) {
    if (halo.far_rows.size() == 0) return;  // known without a load, for which all threads would wait
    const Index end = halo.far_steps[blockIdx.x + 1];
    for (Index step = halo.far_steps[blockIdx.x] + warp; step < end; step += halo.warps) {
        const unsigned row = load(halo.far_rows.data() + Offset{step} * halo_lanes + lane);
        const Offset column = Offset{load(halo.far_columns.data() + Offset{step} * halo_lanes + lane)} * Shape::size;
        const Value* const value = halo.far_values.data() + halo_slot(step, Shape::area, lane);
        Value sums[Shape::size] = {};
#pragma unroll
        for (int c = 0; c < Shape::size; ++c) {
            const Value x_of_column = row != no_place && column + c < halo.column_count ? x[column + c] : Value{0};
#pragma unroll
            for (int r = 0; r < Shape::size; ++r) {
                sums[r] += load(value + (r * Shape::size + c) * halo_lanes) * x_of_column;
            }
        }
        if (__all_sync(~0u, row == __shfl_sync(~0u, row, 0)) != 0) {
#pragma unroll
            for (int r = 0; r < Shape::size; ++r) {
                for (int distance = halo_lanes / 2; distance > 0; distance /= 2) {
                    sums[r] += __shfl_down_sync(~0u, sums[r], distance);
                }
            }
            if (lane == 0) add_to_place(shared.sums, row, sums);
        } else if (row != no_place) {
            add_to_place(shared.sums, row, sums);
        }
    }
}

template <typename Shape, typename Load, typename Arrays, typename Value>
__global__ void __launch_bounds__(most_threads, Shape::resident_blocks)
    multiply_parts(const __grid_constant__ Arrays halo, const Load load, const Value* __restrict__ x, Value* __restrict__ y,
                   bool accumulate) {
    extern __shared__ __align__(16) unsigned char memory[];
    const int warp = static_cast<int>(threadIdx.x) / halo_lanes;
    const int lane = static_cast<int>(threadIdx.x) % halo_lanes;
    // The offsets are read first, so that the values of the blocks and the columns of the halo are loaded together.
    const HaloPart part = halo_part(halo, static_cast<Index>(blockIdx.x));
    const Index first_group = halo.has_diagonal() ? halo.diagonal_groups[blockIdx.x] : 0;
    auto* const places = reinterpret_cast<Value*>(memory);
    const SharedVectors<Value> shared{places, places + part.places() * Shape::size};
    LaneSteps<Shape, Arrays, Load, Value> steps(halo, load, Offset{blockIdx.x} * halo.warps + warp);
    fill_places<Shape>(halo, load, part, first_group, shared, x);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    steps.multiply(shared);
    add_far_blocks<Shape>(halo, load, shared, warp, lane, x);
    // Loaded again rather than kept in registers, and before the barrier, so that the loads have completed after it.
    const Index first_node = halo.part_nodes[blockIdx.x];
    const Index own_rows = (halo.part_nodes[blockIdx.x + 1] - first_node) * Shape::size;
    __syncthreads();
    const Offset first_row = Offset{first_node} * Shape::size;
    for (Index i = static_cast<Index>(threadIdx.x); i < own_rows; i += static_cast<Index>(blockDim.x)) {
        if (first_row + i < halo.row_count) write_result(y + first_row + i, shared.sums[i], accumulate);
    }
}

template <ValueType Value>
class PartsKernel final : public Kernel<Value> {
public:
    PartsKernel(const HaloLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), halo_(copy_to(device, layout.stored(), "halo")) {
        most_shared_bytes_ = static_cast<int>(device.properties().shared_memory_per_block);
        for (Index part = 0; part < layout.parts(); ++part) {
            shared_bytes_ =
                std::max(shared_bytes_, halo_vector_bytes(halo_part(layout.stored(), part), layout.block_size, sizeof(Value)));
        }
        if (shared_bytes_ > most_shared_bytes_) {
            throw Unsuitable("x and y of a part take " + std::to_string(shared_bytes_) + " bytes of shared memory; " +
                             device.properties().name + " gives a block " + std::to_string(most_shared_bytes_) +
                             ": set the layout's shared_memory to that");
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        if (halo_.parts() <= 0 || halo_.row_count == 0) return;
        const auto halo = view_of(halo_);
        with_known<1, 2, 3, 4, 5, 6>(halo.block_size, [&]<int size>(Known<size>) {
            using Shape = SquareBlock<size>;
            const auto kernel = multiply_parts<Shape, std::remove_cvref_t<decltype(load)>, decltype(view_of(halo_)), Value>;
            // The limit belongs to the function, not to the launch: the highest one serves all matrices.
            check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes_),
                       "cudaFuncSetAttribute");
            kernel<<<static_cast<unsigned>(halo.parts()), halo.warps * halo_lanes, shared_bytes_, stream_>>>(halo, load, x, y,
                                                                                                             accumulate);
            check_launch("halo parts");
        });
    }

    [[nodiscard]] const Halo<Value, DeviceArray>& stored() const { return halo_; }
    [[nodiscard]] Offset launched_threads() const { return Offset{halo_.parts()} * halo_.warps * halo_lanes; }

private:
    cudaStream_t stream_;
    Halo<Value, DeviceArray> halo_;
    std::int64_t shared_bytes_ = 0;  // for a thread block
    int most_shared_bytes_ = 0;      // that the device offers one
};

}  // namespace workbench::halo
