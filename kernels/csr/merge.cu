// CSR by equal shares of the merge path (merge_path.hpp): a block has so many row ends and nonzeros. It finds where its share
// begins and ends, loads it side by side, products and row ends, to shared memory, and each thread goes along its part of the
// path. A block-wide segmented sum joins the parts, and what a block leaves open is carried to the row's end by a second
// kernel.
//
// Races. A row of y is written by the thread whose part holds the row's end: there is one. What a block carries is written by
// its last thread; the second kernel starts after the first has ended, and adds all that is carried to a row by one warp. In
// shared memory a barrier stands between what is written and what is read.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/common/device/carries.cuh"
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/loads.cuh"
#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/common/device/sums.cuh"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"

namespace workbench {
namespace {

/// The search by a whole warp: 32 rows at a time. Every lane gets the answer.
__device__ __forceinline__ Index find_on_path(const Offset* __restrict__ row_ends, Index rows, Offset nonzeros, Offset steps,
                                              int lane) {
    SearchRange range = merge_path_range(rows, nonzeros, steps);
    while (!range.done()) {
        const Index row = range.probe(lane, 32);
        range = range.narrowed(__popc(__ballot_sync(~0U, ends_before(__ldg(row_ends + row), row, steps))), 32);
    }
    return range.begin;
}

/// Shared memory of a block. What it has of row ends and of products are its steps, together.
template <typename Shape, typename Value>
struct MergeMemory {
    Value products[Shape::steps];
    int row_ends[Shape::steps + 1];  // from the block's first nonzero on; one that never comes after them
    SegmentsOfWarps<Shape::threads, Value> of_warps;
    Index first_rows[2];  // of this block, and of the next
};

/// Threads without a nonzero of their own go on with the last: no load is behind a branch, so that all are under way together.
template <typename Shape, typename Value>
__device__ __forceinline__ void load_share(const Csr<Value, ArrayView>& csr, Offset first, int nonzeros, Index first_row,
                                           int rows, const Value* __restrict__ x, MergeMemory<Shape, Value>& memory) {
    const StreamingLoad load;
    const int thread = static_cast<int>(threadIdx.x);
    const Offset* const row_ends = csr.row_offsets.data() + first_row + 1;
    const auto load_row_ends = [&] {
        for (int row = thread; row <= rows; row += Shape::threads) {
            memory.row_ends[row] =
                row < rows ? static_cast<int>(load(row_ends + row) - first) : std::numeric_limits<int>::max();
        }
    };
    if (nonzeros == 0) return load_row_ends();
    const Value* const values = csr.values.data() + first;
    const Index* const columns = csr.column_indices.data() + first;
    Value value[Shape::steps_per_thread];
    Index column[Shape::steps_per_thread];
#pragma unroll
    for (int k = 0; k < Shape::steps_per_thread; ++k) {
        const int place = min(Shape::place(k, thread), nonzeros - 1);
        column[k] = load(columns + place);
        value[k] = load(values + place);
    }
    load_row_ends();
#pragma unroll
    for (int k = 0; k < Shape::steps_per_thread; ++k) memory.products[Shape::place(k, thread)] = value[k] * x[column[k]];
}

template <typename Shape, int resident_blocks, typename Value>
__global__ void __launch_bounds__(Shape::threads, resident_blocks)
    multiply_shares(const __grid_constant__ Csr<Value, ArrayView> csr, const Value* __restrict__ x, Value* __restrict__ y,
                    Index* __restrict__ carried_rows, Value* __restrict__ carried, bool accumulate) {
    __shared__ MergeMemory<Shape, Value> memory;
    const int thread = static_cast<int>(threadIdx.x);
    const Index all_rows = csr.row_count;
    const Offset all_nonzeros = csr.values.size();
    const Offset begin = static_cast<Offset>(blockIdx.x) * Shape::steps;
    const Offset end = min(begin + Shape::steps, all_rows + all_nonzeros);
    if (thread < 64) {
        const Offset steps = thread < 32 ? begin : end;
        const Index row = find_on_path(csr.row_offsets.data() + 1, all_rows, all_nonzeros, steps, thread % 32);
        if (thread % 32 == 0) memory.first_rows[thread / 32] = row;
    }
    __syncthreads();
    const Index first_row = memory.first_rows[0];
    const int rows = memory.first_rows[1] - first_row;
    const int steps = static_cast<int>(end - begin);
    const int nonzeros = steps - rows;
    load_share<Shape>(csr, begin - first_row, nonzeros, first_row, rows, x, memory);
    __syncthreads();

    // The row whose end comes first has other threads' nonzeros before it: it waits for the segmented sum.
    const int first_step = min(thread * Shape::steps_per_thread, steps);
    const int last_step = min(first_step + Shape::steps_per_thread, steps);
    int row = merge_path_search(memory.row_ends, rows, first_step);
    int nonzero = first_step - row;
    int row_end = memory.row_ends[row];
    const int own_first_row = row;
    Segment<Value> own;
    Value first_sum = 0;
#pragma unroll
    for (int k = 0; k < Shape::steps_per_thread; ++k) {
        if (first_step + k >= last_step) continue;
        if (nonzero < row_end) {
            own.open += memory.products[nonzero++];
            continue;
        }
        if (own.has_end) {
            write_result(y + first_row + row, own.open, accumulate);
        } else {
            first_sum = own.open;
        }
        own = {true, 0};
        row_end = memory.row_ends[++row];
    }
    const SegmentedSums<Value> sums = segmented_sums(own, memory.of_warps);
    if (own.has_end) write_result(y + first_row + own_first_row, sums.carried_in + first_sum, accumulate);
    if (thread == 0) {
        // A row with an end here has nothing open; neither have the rows behind the last one.
        const bool is_open = nonzeros > (rows == 0 ? 0 : memory.row_ends[rows - 1]);
        carried_rows[blockIdx.x] = is_open ? first_row + rows : -1;
        carried[blockIdx.x] = sums.left_open;
    }
}

template <ValueType Value, typename Shape, int resident_blocks>
class CsrMerge final : public Kernel<Value> {
public:
    CsrMerge(const CsrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          csr_(copy_to(device, layout.stored(), "csr")),
          blocks_((layout.row_count + layout.nonzeros() + Shape::steps - 1) / Shape::steps),
          bytes_(layout.bytes_to_move() + 2 * blocks_ * static_cast<std::int64_t>(sizeof(Index) + sizeof(Value))),
          carried_rows_(device.allocate(blocks_ * sizeof(Index), "csr merge carried rows")),
          carried_(device.allocate(blocks_ * sizeof(Value), "csr merge carried sums")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (blocks_ == 0) return;
        auto* const rows = carried_rows_.as<Index>();
        auto* const sums = carried_.as<Value>();
        multiply_shares<Shape, resident_blocks>
            <<<static_cast<unsigned>(blocks_), Shape::threads, 0, stream_>>>(view_of(csr_), x, y, rows, sums, accumulate);
        check_launch("csr merge");
        if (blocks_ == 1) return;  // nothing is carried
        launch_add_carried(rows, sums, blocks_, y, stream_, "csr merge carries");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    Csr<Value, DeviceArray> csr_;
    std::int64_t blocks_;
    std::int64_t bytes_;
    DeviceMemory carried_rows_;  // [blocks] the row that goes on in the next block, -1: none
    DeviceMemory carried_;       // [blocks] its sum in this block
};

template <ValueType Value, typename Shape, int resident_blocks>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::make_unique<CsrMerge<Value, Shape, resident_blocks>>(dynamic_cast<const CsrLayout<Value>&>(layout), device);
}

template <typename Shape, int resident_blocks>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name),
            Backend::cuda,
            std::move(summary),
            {prepare<float, Shape, resident_blocks>, prepare<double, Shape, resident_blocks>}};
}

}  // namespace

std::vector<KernelEntry> csr_merge_kernels() {
    return {
        entry<MergeA, 5>("merge_a", "equal shares of row ends and nonzeros (merge path): 256 threads with 7 each"),
        entry<MergeB, 8>("merge_b", "equal shares of row ends and nonzeros (merge path): 128 threads with 7 each"),
        entry<MergeC, 6>("merge_c", "equal shares of row ends and nonzeros (merge path): 128 threads with 11 each"),
    };
}

}  // namespace workbench
