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

#include "kernels/common/cuda_check.cuh"
#include "kernels/common/cuda_device.cuh"
#include "kernels/common/device_slices.cuh"
#include "kernels/ehyb/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int largest_block = 1024;
constexpr int outside_block = 256;
constexpr int entries_in_flight = 8;  // one block of at most 1024 threads on a multiprocessor is half of what it could hold

template <bool atomically, typename Value>
__device__ __forceinline__ void deliver(Value* y, Value sum, bool accumulate) {
    if constexpr (atomically) {
        atomicAdd(y, sum);
    } else {
        write_result(y, sum, accumulate);
    }
}

template <typename Value, typename ColumnIndex>
struct InsideView {
    SlicesView<Value, ColumnIndex> slices;
    const Index* group_slices = nullptr;       // [partitions + 1]
    const Index* partition_rows = nullptr;     // [partitions + 1]
    const Index* partition_columns = nullptr;  // [partitions + 1]
};

template <typename Value>
struct OutsideView {
    SlicesView<Value, Index> slices;
    const Index* rows = nullptr;  // [row_count]
    Index row_count = 0;
};

/// The next slice for the whole warp.
__device__ __forceinline__ Index claim_slice(int* counter, int lane) {
    int slice = 0;
    if (lane == 0) slice = atomicAdd(counter, 1);
    return __shfl_sync(~0u, slice, 0);
}

template <bool atomically, typename Value>
__device__ __forceinline__ void add_outside_slice(const OutsideView<Value>& outside, Index slice, int lane,
                                                  const Value* __restrict__ x, Value* __restrict__ y) {
    const Index stored = slice * warp_size + lane;
    if (stored >= outside.row_count) return;
    const Value sum = outside.slices.template multiply_lane<warp_size, entries_in_flight>(slice, lane, x);
    deliver<atomically>(y + outside.rows[stored], sum, true);
}

/// Shared memory: the partition's share of x, then the counter of its slices. Fused: everything is added to y atomically, and
/// the warps that find no slice of their partition any more go on with slices of `outside`, wherever those belong (Algorithm 3,
/// lines 19 and 20).
template <bool fused, typename Value, typename ColumnIndex>
__global__ void __launch_bounds__(largest_block)
    multiply_inside(InsideView<Value, ColumnIndex> inside, OutsideView<Value> outside, int* __restrict__ outside_counter,
                    const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Index partition = static_cast<Index>(blockIdx.x);
    const Index first_column = inside.partition_columns[partition];
    const Index cached = inside.partition_columns[partition + 1] - first_column;
    auto* const cached_x = reinterpret_cast<Value*>(shared);
    int* const inside_counter = reinterpret_cast<int*>(cached_x + cached);

    const Index first_slice = inside.group_slices[partition];
    const Index end_slice = inside.group_slices[partition + 1];
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    if (threadIdx.x == 0) *inside_counter = first_slice + warps;
#pragma unroll 4
    for (Index i = static_cast<Index>(threadIdx.x); i < cached; i += static_cast<Index>(blockDim.x)) {
        cached_x[i] = x[first_column + i];
    }
    __syncthreads();

    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const Index first_row = inside.partition_rows[partition];
    const Index end_row = inside.partition_rows[partition + 1];
    for (Index slice = first_slice + static_cast<int>(threadIdx.x) / warp_size; slice < end_slice;
         slice = claim_slice(inside_counter, lane)) {
        const Index row = first_row + (slice - first_slice) * warp_size + lane;
        if (row >= end_row) continue;
        deliver<fused>(y + row, inside.slices.template multiply_lane<warp_size, entries_in_flight>(slice, lane, cached_x),
                       accumulate);
    }
    if constexpr (fused) {
        // The first slice is given, so that thousands of warps do not queue for the counter at once. Longer slices come first:
        // they are dealt to the blocks in turn.
        const int first =
            static_cast<int>(threadIdx.x) / warp_size * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        for (Index slice = first; slice < outside.slices.count; slice = claim_slice(outside_counter, lane)) {
            add_outside_slice<true>(outside, slice, lane, x, y);
        }
    }
}

/// The outside share on its own, a warp a slice.
template <typename Value>
__global__ void __launch_bounds__(outside_block)
    add_outside(OutsideView<Value> outside, const Value* __restrict__ x, Value* __restrict__ y) {
    const Offset warp = (static_cast<Offset>(blockIdx.x) * outside_block + threadIdx.x) / warp_size;
    if (warp >= outside.slices.count) return;
    add_outside_slice<false>(outside, static_cast<Index>(warp), static_cast<int>(threadIdx.x) % warp_size, x, y);
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
std::size_t shared_bytes_for(const EhybLayout<Value>& layout, const DeviceProperties& properties) {
    std::size_t largest = 0;
    for (Index p = 0; p < layout.partition_count(); ++p) {
        const Index columns = layout.partition_columns[p + 1] - layout.partition_columns[p];
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
/// room for one block only, that had better be large. Never more warps than the largest partition has slices.
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

template <typename Value, typename ColumnIndex>
using InsideKernel = void (*)(InsideView<Value, ColumnIndex>, OutsideView<Value>, int*, const Value*, Value*, bool);

template <ValueType Value, typename ColumnIndex>
class EhybKernel final : public Kernel<Value> {
public:
    EhybKernel(const EhybLayout<Value>& layout, const Slices<Value, ColumnIndex>& inside, bool fused, Device& device)
        : stream_(cuda_device(device).stream()),
          fused_(fused && !layout.outside_rows.empty()),  // without an outside share there is nothing to fuse
          inside_kernel_(fused_ ? multiply_inside<true, Value, ColumnIndex> : multiply_inside<false, Value, ColumnIndex>),
          rows_(layout.row_count),
          partitions_(layout.partition_count()),
          inside_(device, inside, "EHYB inside"),
          group_slices_(to_device(device, std::span(inside.group_slices), "EHYB slices of partitions")),
          partition_rows_(to_device(device, std::span(layout.partition_rows), "EHYB rows of partitions")),
          partition_columns_(to_device(device, std::span(layout.partition_columns), "EHYB columns of partitions")),
          outside_(device, layout.outside, "EHYB outside"),
          outside_rows_(to_device(device, std::span(layout.outside_rows), "EHYB outside rows")),
          outside_row_count_(static_cast<Index>(layout.outside_rows.size())),
          outside_counter_(device.allocate(sizeof(int), "EHYB slice counter")) {
        const std::size_t shared_bytes = shared_bytes_for(layout, device.properties());
        Index most_slices = 0;
        for (Index p = 0; p < partitions_; ++p) {
            most_slices = std::max(most_slices, inside.group_slices[p + 1] - inside.group_slices[p]);
        }
        shape_ = choose_shape(inside_kernel_, shared_bytes, partitions_, most_slices, device.properties());
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        if (fused_) reset_before(y, accumulate);
        const InsideView<Value, ColumnIndex> inside{inside_.view(), group_slices_.as<Index>(), partition_rows_.as<Index>(),
                                                    partition_columns_.as<Index>()};
        inside_kernel_<<<static_cast<unsigned>(partitions_), shape_.threads, shape_.shared_bytes, stream_>>>(
            inside, outside_view(), outside_counter_.as<int>(), x, y, accumulate);
        check_launch("ehyb inside");
        if (!fused_ && outside_row_count_ > 0) add_outside_after(x, y);
    }

private:
    void reset_before(Value* y, bool accumulate) {
        const Index rows_to_clear = accumulate ? 0 : rows_;
        reset<<<blocks_for(rows_to_clear, outside_block), outside_block, 0, stream_>>>(
            y, rows_to_clear, outside_counter_.as<int>(), partitions_ * (shape_.threads / warp_size));
        check_launch("ehyb reset");
    }

    void add_outside_after(const Value* x, Value* y) {
        const Offset threads = Offset{outside_.view().count} * warp_size;
        add_outside<<<blocks_for(threads, outside_block), outside_block, 0, stream_>>>(outside_view(), x, y);
        check_launch("ehyb outside");
    }

    [[nodiscard]] OutsideView<Value> outside_view() const {
        return {outside_.view(), outside_rows_.as<Index>(), outside_row_count_};
    }

    cudaStream_t stream_;
    bool fused_;
    InsideKernel<Value, ColumnIndex> inside_kernel_;
    Index rows_;
    Index partitions_;
    DeviceSlices<Value, ColumnIndex> inside_;
    DeviceMemory group_slices_;
    DeviceMemory partition_rows_;
    DeviceMemory partition_columns_;
    DeviceSlices<Value, Index> outside_;
    DeviceMemory outside_rows_;
    Index outside_row_count_;
    DeviceMemory outside_counter_;
    LaunchShape shape_;
};

template <ValueType Value, bool fused>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& ehyb = dynamic_cast<const EhybLayout<Value>&>(layout);
    return std::visit(
        [&]<typename ColumnIndex>(const Slices<Value, ColumnIndex>& inside) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<EhybKernel<Value, ColumnIndex>>(ehyb, inside, fused, device);
        },
        ehyb.inside);
}

}  // namespace

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
