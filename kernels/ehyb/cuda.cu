// EHYB on a GPU, after Algorithm 3 of the paper: a block for each partition, which keeps the partition's share of x in shared
// memory and whose warps claim slice after slice.
//
// Races. In shared memory: the share of x is written before the only barrier and read after it; the slice counter is set before
// that barrier and then only touched by atomicAdd. In global memory: a row lies in one slice of one partition and in at most
// one slice outside, hence
//  - fused: all additions to y are atomic, to a y that an earlier kernel of the stream has set; so has it the counter of the
//    outside slices, which then is only touched by atomicAdd;
//  - two_launch: within each of the two kernels a row of y belongs to one lane, and the second kernel starts after the first.
#include <algorithm>
#include <string>

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/recording.cuh"
#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/ehyb/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int largest_block = 1024;
constexpr int outside_block = 256;

template <bool atomically, typename Value>
__device__ __forceinline__ void deliver(Value* y, Value sum, bool accumulate) {
    if constexpr (atomically) {
        atomicAdd(y, sum);
    } else {
        write_result(y, sum, accumulate);
    }
}

/// The next slice for the whole warp.
__device__ __forceinline__ Index claim_slice(int* counter, int lane) {
    int slice = 0;
    if (lane == 0) slice = atomicAdd(counter, 1);
    return __shfl_sync(~0u, slice, 0);
}

template <bool atomically, typename Value>
__device__ __forceinline__ void add_outside_slice(const auto& ehyb, Index slice, int lane, const Value* __restrict__ x,
                                                  Value* __restrict__ y, const auto& load) {
    const auto run = EhybOutside::run_of(ehyb, slice, lane);
    if (run.row < 0) return;
    const Value sum = multiply_run<EhybOutside>(ehyb, run, x, load);
    deliver<atomically>(y + EhybOutside::row_of(ehyb, run, load), sum, true);
}

/// Shared memory: the partition's share of x, then the counter of its slices. Fused: everything is added to y atomically, and
/// the warps that find no slice of their partition any more go on with slices of `outside`, wherever those belong (Algorithm 3,
/// lines 19 and 20).
template <bool fused, typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(largest_block)
    multiply_inside(const __grid_constant__ Arrays ehyb, int* __restrict__ outside_counter, const Value* __restrict__ x,
                    Value* __restrict__ y, bool accumulate, const Load load) {
    extern __shared__ __align__(16) unsigned char shared[];
    const auto partition = EhybPartition::of(ehyb, static_cast<Index>(blockIdx.x));
    const Index cached = partition.end_column - partition.first_column;
    auto* const cached_x = reinterpret_cast<Value*>(shared);
    int* const inside_counter = reinterpret_cast<int*>(cached_x + cached);

    const int warps = static_cast<int>(blockDim.x) / warp_size;
    if (threadIdx.x == 0) *inside_counter = partition.first_slice + warps;
#pragma unroll 4
    for (Index i = static_cast<Index>(threadIdx.x); i < cached; i += static_cast<Index>(blockDim.x)) {
        cached_x[i] = x[partition.first_column + i];
    }
    __syncthreads();

    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (Index slice = partition.first_slice + static_cast<int>(threadIdx.x) / warp_size; slice < partition.end_slice;
         slice = claim_slice(inside_counter, lane)) {
        auto run = EhybInside::run_of(ehyb, partition, slice, lane);
        if (run.row < 0) continue;
        run.first_column = 0;  // the cached x begins there
        deliver<fused>(y + run.row, multiply_run<EhybInside>(ehyb, run, cached_x, load), accumulate);
    }
    if constexpr (fused) {
        // The first slice is given, so that thousands of warps do not queue for the counter at once. Longer slices come first:
        // they are dealt to the blocks in turn.
        const int first =
            static_cast<int>(threadIdx.x) / warp_size * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        const Index slices = ehyb.outside.slice_count();
        for (Index slice = first; slice < slices; slice = claim_slice(outside_counter, lane)) {
            add_outside_slice<true>(ehyb, slice, lane, x, y, load);
        }
    }
}

/// The outside share on its own, a warp a slice.
template <typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(outside_block)
    add_outside(const __grid_constant__ Arrays ehyb, const Value* __restrict__ x, Value* __restrict__ y, const Load load) {
    const Offset warp = (static_cast<Offset>(blockIdx.x) * outside_block + threadIdx.x) / warp_size;
    if (warp >= ehyb.outside.slice_count()) return;
    add_outside_slice<false>(ehyb, static_cast<Index>(warp), static_cast<int>(threadIdx.x) % warp_size, x, y, load);
}

/// What the fused kernel must find: y = 0 (where it accumulates: rows = 0, y is left alone), and only those outside slices
/// claimed that its warps begin with.
template <typename Value>
__global__ void __launch_bounds__(outside_block)
    reset(Value* __restrict__ y, Index rows, int* __restrict__ outside_counter, int claimed) {
    const Offset row = static_cast<Offset>(blockIdx.x) * outside_block + threadIdx.x;
    if (row < rows) y[row] = 0;
    if (row == 0) *outside_counter = claimed;
}

/// Threads of a block and the shared memory that it asks for.
struct LaunchShape {
    int threads = warp_size;
    std::size_t shared_bytes = 0;
};

/// Throws Unsuitable where the device cannot give a block that much.
template <ValueType Value>
std::size_t shared_bytes_for(const std::vector<Index>& partition_columns, const DeviceProperties& properties) {
    std::size_t largest = 0;
    for (Index p = 0; p < static_cast<Index>(partition_columns.size()) - 1; ++p) {
        const Index columns = partition_columns[p + 1] - partition_columns[p];
        const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(Value) + sizeof(int);
        if (bytes > properties.shared_memory_per_block) {
            throw Unsuitable("partition " + std::to_string(p) + " has " + std::to_string(columns) + " columns, whose x needs " +
                             std::to_string(bytes) + " bytes of shared memory; " + properties.name + " gives a block " +
                             std::to_string(properties.shared_memory_per_block) +
                             ": raise `parts` of stage metis_partition, or set it to \"auto\"");
        }
        largest = std::max(largest, bytes);
    }
    return largest;
}

/// The block size that keeps most threads of a multiprocessor busy, and of those the smallest: where a large share of x leaves
/// room for one block only, that one should be large. Never more warps than the largest partition has slices.
template <typename KernelFunction>
LaunchShape choose_shape(KernelFunction kernel, std::size_t shared_bytes, Index partitions, Index most_slices,
                         const DeviceProperties& properties) {
    // The limit belongs to the function, not to a launch: as high as it goes serves all matrices that are ever prepared.
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

template <ValueType Value, typename ColumnIndex, typename Load>
class EhybKernel final : public Kernel<Value> {
public:
    EhybKernel(const Ehyb<Value, ColumnIndex, HostArray>& ehyb, bool fused, Device& device, const Load& load)
        : stream_(cuda_device(device).stream()),
          fused_(fused && !ehyb.outside_rows.empty()),  // without an outside share there is nothing to fuse
          ehyb_(copy_to(device, ehyb, "ehyb")),
          outside_counter_(device.allocate(sizeof(int), "EHYB slice counter")),
          load_(load) {
        const std::size_t shared_bytes = shared_bytes_for<Value>(ehyb.partition_columns, device.properties());
        Index most_slices = 0;
        for (Index p = 0; p < ehyb.partition_count(); ++p) {
            most_slices = std::max(most_slices, ehyb.inside_group_slices[p + 1] - ehyb.inside_group_slices[p]);
        }
        shape_ = choose_shape(inside_kernel(), shared_bytes, ehyb.partition_count(), most_slices, device.properties());
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (ehyb_.row_count == 0) return;
        if (fused_) reset_before(y, accumulate);
        inside_kernel()<<<static_cast<unsigned>(ehyb_.partition_count()), shape_.threads, shape_.shared_bytes, stream_>>>(
            view_of(ehyb_), outside_counter_.as<int>(), x, y, accumulate, load_);
        check_launch("ehyb inside");
        const Offset outside_threads = ehyb_.outside.lane_count();
        if (fused_ || outside_threads == 0) return;
        add_outside<<<blocks_for(outside_threads, outside_block), outside_block, 0, stream_>>>(view_of(ehyb_), x, y, load_);
        check_launch("ehyb outside");
    }

    [[nodiscard]] const Ehyb<Value, ColumnIndex, DeviceArray>& arrays() const { return ehyb_; }
    void read_with(const Load& load) { load_ = load; }
    /// Of the larger of the two grids.
    [[nodiscard]] Offset threads() const {
        return std::max(Offset{ehyb_.partition_count()} * shape_.threads, ehyb_.outside.lane_count() + outside_block);
    }

private:
    using View = Ehyb<Value, ColumnIndex, ArrayView>;

    [[nodiscard]] auto inside_kernel() const {
        return fused_ ? multiply_inside<true, View, Value, Load> : multiply_inside<false, View, Value, Load>;
    }

    void reset_before(Value* y, bool accumulate) {
        const Index rows_to_clear = accumulate ? 0 : ehyb_.row_count;
        reset<<<blocks_for(rows_to_clear, outside_block), outside_block, 0, stream_>>>(
            y, rows_to_clear, outside_counter_.as<int>(), ehyb_.partition_count() * (shape_.threads / warp_size));
        check_launch("ehyb reset");
    }

    cudaStream_t stream_;
    bool fused_;
    Ehyb<Value, ColumnIndex, DeviceArray> ehyb_;
    DeviceMemory outside_counter_;
    Load load_;
    LaunchShape shape_;
};

template <ValueType Value, bool fused>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::visit(
        [&]<typename ColumnIndex>(const Ehyb<Value, ColumnIndex, HostArray>& ehyb) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<EhybKernel<Value, ColumnIndex, StreamingLoad>>(ehyb, fused, device, StreamingLoad{});
        },
        dynamic_cast<const EhybLayout<Value>&>(layout).stored);
}

}  // namespace

std::vector<Recorded> record_ehyb_reads(const EhybLayout<double>& layout, bool fused, bool outside, Device& device) {
    return std::visit(
        [&]<typename ColumnIndex>(const Ehyb<double, ColumnIndex, HostArray>& ehyb) {
            EhybKernel<double, ColumnIndex, RecordingLoad<double>> kernel(ehyb, fused, device, {});
            const auto& arrays = kernel.arrays();
            Recording recording(device, outside ? arrays.outside.values : arrays.inside.values, kernel.threads());
            kernel.read_with(recording.load());
            const DeviceArray<double> x(device, std::vector<double>(ehyb.column_count, 1), "x");
            DeviceMemory y = device.allocate(static_cast<std::size_t>(ehyb.row_count) * sizeof(double), "y");
            kernel.run(x.data(), y.as<double>(), false);
            return recording.read();
        },
        layout.stored);
}

std::vector<KernelEntry> ehyb_cuda_kernels() {
    return {
        {"fused",
         Backend::cuda,
         "one launch: a block a partition, then the outside rows, added to y atomically (Algorithm 3)",
         {prepare<float, true>, prepare<double, true>}},
        {"two_launch",
         Backend::cuda,
         "a block a partition; a second launch adds the outside rows",
         {prepare<float, false>, prepare<double, false>}},
    };
}

}  // namespace workbench
