// EHYB on a GPU (Algorithm 3 of the paper): each thread block takes a partition and keeps its share of x in shared memory; its
// warps claim slice after slice.
//
// Races in shared memory: the share of x is written before the only barrier and read after it; the slice counter is set before
// that barrier and changed only by atomicAdd after it. In global memory, a row is in one slice of one partition and in at most
// one slice outside. Hence
//  - fused: the one lane of a row without entries outside writes it. For any other row each of its two lanes swaps its sum,
//    atomically, with the content of the row's meeting place. The lane that finds the place empty is done; the other finds the
//    first sum, writes the row, and leaves the place empty for the next product. The counter of the outside slices is changed
//    only by atomicInc, and the last claim of a product resets it to 0;
//  - two_launch: within each of the two kernels a row of y belongs to one lane, and the second starts after the first has
//  ended.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/device_code/target_rows.cuh"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/ehyb/layout.hpp"

namespace workbench::ehyb {

constexpr int warp_size = 32;
constexpr int largest_block = 1024;
constexpr int outside_block = 256;

/// The bits of a sum, for atomic swaps.
template <typename Value>
using BitsOf = std::conditional_t<sizeof(Value) == 8, unsigned long long, unsigned>;

/// The value of a meeting place to which no sum has come yet: a NaN, all of whose bits are set.
template <typename Value>
inline constexpr BitsOf<Value> empty_place = ~BitsOf<Value>{0};

/// The sums of rows that have entries both inside and outside their partition meet here.
template <typename Value>
struct Meeting {
    const std::uint32_t* rows_outside;  // [inside slices] bit l: the row of lane l has entries outside
    BitsOf<Value>* places;              // [rows] empty before and after a product
    unsigned* outside_counter;          // outside slices claimed so far: 0 before and after a product
};

/// Leaves a lane's sum at the meeting place of its row. The second of the two lanes that come there writes y = both sums, or
/// y += both.
template <typename Value>
__device__ __forceinline__ void meet(BitsOf<Value>* place, Value sum, Value* y, bool accumulate) {
    BitsOf<Value> mine{};
    memcpy(&mine, &sum, sizeof(sum));
    if (mine == empty_place<Value>) mine -= 1;  // another NaN
    const BitsOf<Value> found = atomicExch(place, mine);
    if (found == empty_place<Value>) return;
    Value other = 0;
    memcpy(&other, &found, sizeof(other));
    write_result(y, sum + other, accumulate);
    *place = empty_place<Value>;
}

/// Claims the next slice for the whole warp.
__device__ __forceinline__ Index claim_slice(int* counter, int lane) {
    int slice = 0;
    if (lane == 0) slice = atomicAdd(counter, 1);
    return __shfl_sync(~0u, slice, 0);
}

/// Claims the next outside slice; the first `given` slices are assigned without a claim. Each warp that has a slice claims
/// further slices until a claim fails: there are as many claims as slices, after which the counter is 0 again.
__device__ __forceinline__ Index claim_outside_slice(unsigned* counter, Index given, Index slices, int lane) {
    unsigned claims = 0;
    if (lane == 0) claims = atomicInc(counter, static_cast<unsigned>(slices) - 1);
    return given + static_cast<Index>(__shfl_sync(~0u, claims, 0));
}

/// Adds the sums of an outside slice to y, or brings them to the meeting places of their rows.
template <bool fused, typename Value>
__device__ __forceinline__ void add_outside_slice(const auto& ehyb, Index slice, int lane, const Meeting<Value>& meeting,
                                                  const ProductVectors<Value>& vectors, const auto& load) {
    const auto run = EhybOutside::run_of(ehyb, slice, lane);
    if (run.row < 0) return;
    const Value sum = multiply_run<EhybOutside>(ehyb, run, vectors.x, load);
    const Index row = EhybOutside::row_of(ehyb, run, load);
    if constexpr (fused) {
        meet(meeting.places + row, sum, vectors.y + row, vectors.accumulate);
    } else {
        write_result(vectors.y + row, sum, true);
    }
}

/// Shared memory: the partition's share of x, then the counter of its slices. fused: warps that find no further slice of their
/// partition continue with slices of `outside`, whose rows are in any partition (Algorithm 3, lines 19 and 20).
template <bool fused, typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(largest_block)
    multiply_inside(const __grid_constant__ Arrays ehyb, const Meeting<Value> meeting, const Value* __restrict__ x,
                    Value* __restrict__ y, bool accumulate, const Load load) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Index partition = static_cast<Index>(blockIdx.x);
    const Index first_column = ehyb.partition_columns[partition];
    const Index cached = ehyb.partition_columns[partition + 1] - first_column;
    auto* const cached_x = reinterpret_cast<Value*>(shared);
    int* const inside_counter = reinterpret_cast<int*>(cached_x + cached);

    const Index first_slice = ehyb.inside_group_slices[partition];
    const Index end_slice = ehyb.inside_group_slices[partition + 1];
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    if (threadIdx.x == 0) *inside_counter = first_slice + warps;
#pragma unroll 4
    for (Index i = static_cast<Index>(threadIdx.x); i < cached; i += static_cast<Index>(blockDim.x)) {
        cached_x[i] = x[first_column + i];
    }
    __syncthreads();

    const ProductVectors<Value> vectors{x, y, accumulate};
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (Index slice = first_slice + static_cast<int>(threadIdx.x) / warp_size; slice < end_slice;
         slice = claim_slice(inside_counter, lane)) {
        auto run = EhybInside::run_of(ehyb, partition, slice, lane);
        if (run.row < 0) continue;
        run.first_column = 0;  // the cached x begins there
        const Value sum = multiply_run<EhybInside>(ehyb, run, cached_x, load);
        if (fused && (meeting.rows_outside[slice] >> lane & 1U) != 0) {
            meet(meeting.places + run.row, sum, y + run.row, accumulate);
        } else {
            write_result(y + run.row, sum, accumulate);
        }
    }
    if constexpr (fused) {
        // Each warp's first slice is assigned, so that thousands of warps do not claim at once. Longer slices come first: they
        // are assigned to the blocks in turn.
        const int first =
            static_cast<int>(threadIdx.x) / warp_size * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        const Index given = static_cast<Index>(gridDim.x) * warps;
        const Index slices = ehyb.outside.slice_count();
        for (Index slice = first; slice < slices; slice = claim_outside_slice(meeting.outside_counter, given, slices, lane)) {
            add_outside_slice<true>(ehyb, slice, lane, meeting, vectors, load);
        }
    }
}

/// Multiplies the outside share alone, with a warp for each slice.
template <typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(outside_block)
    add_outside(const __grid_constant__ Arrays ehyb, const Value* __restrict__ x, Value* __restrict__ y, const Load load) {
    const Offset warp = (static_cast<Offset>(blockIdx.x) * outside_block + threadIdx.x) / warp_size;
    if (warp >= ehyb.outside.slice_count()) return;
    add_outside_slice<false>(ehyb, static_cast<Index>(warp), static_cast<int>(threadIdx.x) % warp_size, Meeting<Value>{},
                             ProductVectors<Value>{x, y, true}, load);
}

/// Meeting::rows_outside.
template <typename Stored>
HostArray<std::uint32_t> rows_outside(const Stored& ehyb) {
    HostArray<std::uint32_t> rows(ehyb.inside.slice_count());
    for (const Index row : ehyb.outside_rows) {
        const auto next = std::upper_bound(ehyb.partition_rows.begin(), ehyb.partition_rows.end(), row);
        const auto partition = next - ehyb.partition_rows.begin() - 1;
        const Index place = row - ehyb.partition_rows[partition];
        rows[ehyb.inside_group_slices[partition] + place / ehyb_height] |= std::uint32_t{1} << place % ehyb_height;
    }
    return rows;
}

/// Threads of a block and the shared memory that it requests.
struct LaunchShape {
    int threads = warp_size;
    std::size_t shared_bytes = 0;
};

/// The shared memory of a block. Throws Unsuitable if the device offers less.
template <ValueType Value>
std::size_t shared_bytes_for(std::span<const Index> partition_columns, const DeviceProperties& properties) {
    std::size_t largest = 0;
    for (Index p = 0; p < static_cast<Index>(partition_columns.size()) - 1; ++p) {
        const Index columns = partition_columns[p + 1] - partition_columns[p];
        const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(Value) + sizeof(int);
        if (bytes > properties.shared_memory_per_block) {
            throw Unsuitable("partition " + std::to_string(p) + " has " + std::to_string(columns) + " columns, whose x needs " +
                             std::to_string(bytes) + " bytes of shared memory; " + properties.name + " gives a block " +
                             std::to_string(properties.shared_memory_per_block) +
                             ": raise `parts` of the stage that makes the partitions, or set it to \"auto\"");
        }
        largest = std::max(largest, bytes);
    }
    return largest;
}

/// The smallest block size that keeps the most threads of a multiprocessor busy: a large one if a large share of x lets a
/// multiprocessor hold one block only. Never more warps than the largest partition has slices.
template <typename KernelFunction>
LaunchShape choose_shape(KernelFunction kernel, std::size_t shared_bytes, std::span<const Index> partition_slices,
                         const DeviceProperties& properties) {
    const auto partitions = static_cast<Index>(partition_slices.size()) - 1;
    Index most_slices = 0;
    for (Index p = 0; p < partitions; ++p) most_slices = std::max(most_slices, partition_slices[p + 1] - partition_slices[p]);
    // The limit belongs to the function, not to the launch: the highest one serves all matrices.
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(properties.shared_memory_per_block)),
               "cudaFuncSetAttribute");
    const int blocks_to_place = (partitions + properties.processors - 1) / properties.processors;
    const int most_threads = std::min(largest_block / warp_size, std::max(most_slices, 1)) * warp_size;
    LaunchShape best{warp_size, shared_bytes};
    int most_busy = 0;
    for (int threads = warp_size; threads <= most_threads; threads += warp_size) {
        int blocks = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        const int busy = threads * std::min(blocks, blocks_to_place);
        if (busy <= most_busy) continue;
        most_busy = busy;
        best.threads = threads;
    }
    return best;
}

template <ValueType Value, typename ColumnIndex>
class PartitionsKernel final : public Kernel<Value> {
public:
    PartitionsKernel(const Ehyb<Value, ColumnIndex, HostArray>& ehyb, bool fused, Device& device)
        : PartitionsKernel(copy_to(device, ehyb, "ehyb"),
                           // Without an outside share there is nothing to fuse.
                           fused && !ehyb.outside_rows.empty()
                               ? DeviceArray<std::uint32_t>(device, rows_outside(ehyb), "ehyb rows outside")
                               : DeviceArray<std::uint32_t>(),
                           ehyb.partition_columns, ehyb.inside_group_slices, device) {}
    /// Takes arrays that are on the device. rows_outside: Meeting::rows_outside for the fused kernel, otherwise empty.
    /// partition_columns and partition_slices are copies of the arrays on the host.
    PartitionsKernel(Ehyb<Value, ColumnIndex, DeviceArray>&& ehyb, DeviceArray<std::uint32_t>&& rows_outside,
                     std::span<const Index> partition_columns, std::span<const Index> partition_slices, Device& device)
        : stream_(cuda_device(device).stream()),
          fused_(rows_outside.size() > 0),
          ehyb_(std::move(ehyb)),
          rows_outside_(std::move(rows_outside)) {
        if (fused_) {
            places_ = device.allocate(static_cast<std::size_t>(ehyb_.row_count) * sizeof(Value), "ehyb meeting places");
            check_cuda(cudaMemsetAsync(places_.address(), 0xFF, places_.bytes(), stream_), "cudaMemsetAsync");  // empty_place
            outside_counter_ = {device, std::vector<unsigned>{0}, "ehyb slice counter"};
        }
        const std::size_t shared_bytes = shared_bytes_for<Value>(partition_columns, device.properties());
        shape_ = choose_shape(inside_kernel<StreamingLoad>(), shared_bytes, partition_slices, device.properties());
    }

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    template <typename Load>
    void multiply(const Load& load, const Value* x, Value* y, bool accumulate) const {
        if (ehyb_.row_count == 0) return;
        // A product leaves the places and the counter as it found them, so that nothing is reset before the next.
        const Meeting<Value> meeting{rows_outside_.data(), places_.template as<BitsOf<Value>>(),
                                     const_cast<unsigned*>(outside_counter_.data())};
        inside_kernel<Load>()<<<static_cast<unsigned>(ehyb_.partition_count()), shape_.threads, shape_.shared_bytes, stream_>>>(
            view_of(ehyb_), meeting, x, y, accumulate, load);
        check_launch("ehyb inside");
        const Offset outside_threads = ehyb_.outside.lane_count();
        if (fused_ || outside_threads == 0) return;
        add_outside<<<blocks_for(outside_threads, outside_block), outside_block, 0, stream_>>>(view_of(ehyb_), x, y, load);
        check_launch("ehyb outside");
    }

    [[nodiscard]] const Ehyb<Value, ColumnIndex, DeviceArray>& stored() const { return ehyb_; }
    /// In the larger of the two grids.
    [[nodiscard]] Offset launched_threads() const {
        return std::max(Offset{ehyb_.partition_count()} * shape_.threads, ehyb_.outside.lane_count() + outside_block);
    }

private:
    using View = Ehyb<Value, ColumnIndex, ArrayView>;

    template <typename Load>
    [[nodiscard]] auto inside_kernel() const {
        return fused_ ? multiply_inside<true, View, Value, Load> : multiply_inside<false, View, Value, Load>;
    }

    cudaStream_t stream_;
    bool fused_;
    Ehyb<Value, ColumnIndex, DeviceArray> ehyb_;
    DeviceArray<std::uint32_t> rows_outside_;  // of the fused kernel, as the next two
    DeviceMemory places_;                      // BitsOf<Value> [rows]
    DeviceArray<unsigned> outside_counter_;
    LaunchShape shape_;
};

}  // namespace workbench::ehyb
