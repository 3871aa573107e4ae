// EHYB on a GPU, after Algorithm 3 of the paper: a block for each partition, which keeps the partition's share of x in shared
// memory and whose warps claim slice after slice.
//
// Races. In shared memory: the share of x is written before the only barrier and read after it; the slice counter is set before
// that barrier and then only touched by atomicAdd. In global memory: a row lies in one slice of one partition and in at most
// one slice outside, hence
//  - fused: a row without entries outside is written by its one lane. For any other the two lanes that have a share of it meet:
//    each swaps its sum, atomically, with what lies at the row's meeting place. Who finds nothing there came first and is done;
//    the other finds the first one's sum, writes the row, and leaves the place empty for the next product. The counter of the
//    outside slices is only touched by atomicInc, which takes it back to 0 with the last claim of a product;
//  - two_launch: within each of the two kernels a row of y belongs to one lane, and the second kernel starts after the first.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/recording.cuh"
#include "kernels/ehyb/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int largest_block = 1024;
constexpr int outside_block = 256;

/// A sum as the bits that are swapped.
template <typename Value>
using BitsOf = std::conditional_t<sizeof(Value) == 8, unsigned long long, unsigned>;

/// Nobody was at a meeting place yet: all bits set, a NaN.
template <typename Value>
inline constexpr BitsOf<Value> nobody = ~BitsOf<Value>{0};

/// Where the two shares of a row meet.
template <typename Value>
struct Meeting {
    const std::uint32_t* rows_outside;  // [inside slices] bit l: the row of lane l has entries outside, too
    BitsOf<Value>* places;              // [rows] nobody, before and after a product
    unsigned* outside_counter;          // of the slices claimed: 0, before and after
};

/// y = both sums, or y += both, by the lane that comes second.
template <typename Value>
__device__ __forceinline__ void meet(BitsOf<Value>* place, Value sum, Value* y, bool accumulate) {
    BitsOf<Value> mine{};
    memcpy(&mine, &sum, sizeof(sum));
    if (mine == nobody<Value>) mine -= 1;  // another NaN
    const BitsOf<Value> found = atomicExch(place, mine);
    if (found == nobody<Value>) return;
    Value other = 0;
    memcpy(&other, &found, sizeof(other));
    write_result(y, sum + other, accumulate);
    *place = nobody<Value>;
}

/// The next slice for the whole warp.
__device__ __forceinline__ Index claim_slice(int* counter, int lane) {
    int slice = 0;
    if (lane == 0) slice = atomicAdd(counter, 1);
    return __shfl_sync(~0u, slice, 0);
}

/// The same outside, after `given` slices that need not be claimed. Each warp that has a slice claims until it gets none: as
/// many claims in all as there are slices, after which the counter is 0 again.
__device__ __forceinline__ Index claim_outside_slice(unsigned* counter, Index given, Index slices, int lane) {
    unsigned claims = 0;
    if (lane == 0) claims = atomicInc(counter, static_cast<unsigned>(slices) - 1);
    return given + static_cast<Index>(__shfl_sync(~0u, claims, 0));
}

/// A share of the outside rows: added to what is there, or brought to where it meets the other share of its row.
template <bool fused, typename Value>
__device__ __forceinline__ void add_outside_slice(const auto& ehyb, Index slice, int lane, const Meeting<Value>& meeting,
                                                  const Value* __restrict__ x, Value* __restrict__ y, bool accumulate,
                                                  const auto& load) {
    const auto run = EhybOutside::run_of(ehyb, slice, lane);
    if (run.row < 0) return;
    const Value sum = multiply_run<EhybOutside>(ehyb, run, x, load);
    const Index row = EhybOutside::row_of(ehyb, run, load);
    if constexpr (fused) {
        meet(meeting.places + row, sum, y + row, accumulate);
    } else {
        write_result(y + row, sum, true);
    }
}

/// Shared memory: the partition's share of x, then the counter of its slices. Fused: the warps that find no slice of their
/// partition any more go on with slices of `outside`, wherever those belong (Algorithm 3, lines 19 and 20).
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
        // The first slice is given, so that thousands of warps do not queue for the counter at once. Longer slices come first:
        // they are dealt to the blocks in turn.
        const int first =
            static_cast<int>(threadIdx.x) / warp_size * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        const Index given = static_cast<Index>(gridDim.x) * warps;
        const Index slices = ehyb.outside.slice_count();
        for (Index slice = first; slice < slices; slice = claim_outside_slice(meeting.outside_counter, given, slices, lane)) {
            add_outside_slice<true>(ehyb, slice, lane, meeting, x, y, accumulate, load);
        }
    }
}

/// The outside share on its own, a warp a slice.
template <typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(outside_block)
    add_outside(const __grid_constant__ Arrays ehyb, const Value* __restrict__ x, Value* __restrict__ y, const Load load) {
    const Offset warp = (static_cast<Offset>(blockIdx.x) * outside_block + threadIdx.x) / warp_size;
    if (warp >= ehyb.outside.slice_count()) return;
    add_outside_slice<false>(ehyb, static_cast<Index>(warp), static_cast<int>(threadIdx.x) % warp_size, Meeting<Value>{}, x, y,
                             true, load);
}

/// Of each inside slice: which of its rows have entries outside.
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

/// Threads of a block and the shared memory that it asks for.
struct LaunchShape {
    int threads = warp_size;
    std::size_t shared_bytes = 0;
};

/// Throws Unsuitable where the device cannot give a block that much.
template <ValueType Value>
std::size_t shared_bytes_for(const HostArray<Index>& partition_columns, const DeviceProperties& properties) {
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
          load_(load) {
        if (fused_) {
            rows_outside_ = {device, rows_outside(ehyb), "ehyb rows outside"};
            places_ = {device, std::vector<BitsOf<Value>>(ehyb.row_count, nobody<Value>), "ehyb meeting places"};
            outside_counter_ = {device, std::vector<unsigned>{0}, "ehyb slice counter"};
        }
        const std::size_t shared_bytes = shared_bytes_for<Value>(ehyb.partition_columns, device.properties());
        Index most_slices = 0;
        for (Index p = 0; p < ehyb.partition_count(); ++p) {
            most_slices = std::max(most_slices, ehyb.inside_group_slices[p + 1] - ehyb.inside_group_slices[p]);
        }
        shape_ = choose_shape(inside_kernel(), shared_bytes, ehyb.partition_count(), most_slices, device.properties());
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (ehyb_.row_count == 0) return;
        // The places and the counter are as new after each product, so that nothing is reset before.
        const Meeting<Value> meeting{rows_outside_.data(), const_cast<BitsOf<Value>*>(places_.data()),
                                     const_cast<unsigned*>(outside_counter_.data())};
        inside_kernel()<<<static_cast<unsigned>(ehyb_.partition_count()), shape_.threads, shape_.shared_bytes, stream_>>>(
            view_of(ehyb_), meeting, x, y, accumulate, load_);
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

    cudaStream_t stream_;
    bool fused_;
    Ehyb<Value, ColumnIndex, DeviceArray> ehyb_;
    DeviceArray<std::uint32_t> rows_outside_;  // of the fused kernel, as the next two
    DeviceArray<BitsOf<Value>> places_;
    DeviceArray<unsigned> outside_counter_;
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
         "one launch: a block a partition, then the outside rows; a row's two shares meet by an atomic swap (Algorithm 3)",
         {prepare<float, true>, prepare<double, true>}},
        {"two_launch",
         Backend::cuda,
         "a block a partition; a second launch adds the outside rows",
         {prepare<float, false>, prepare<double, false>}},
    };
}

}  // namespace workbench
