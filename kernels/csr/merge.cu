// CSR by equal shares of the merge path (merge_path.hpp): a block has so many row ends and nonzeros. A first kernel finds where
// the shares begin, a warp a share. In the main kernel a block loads its share side by side, products and row ends, to shared
// memory, and each thread goes along its part of the path. A block-wide segmented sum joins the parts, and what a block leaves
// open is carried to the row's end by a third kernel.
//
// Races. A kernel starts after the one before has ended. First rows are written by a lane each. A row of y is written by the
// thread whose part holds the row's end: there is one. What a block carries is written by its first thread, and all that is
// carried to a row is added by one warp of the third kernel. In shared memory a barrier stands between what is written and what
// is read.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"
#include "kernels/device/carries.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/loads.cuh"
#include "kernels/device/sparse_dot.cuh"
#include "kernels/device/sums.cuh"

namespace workbench {
namespace {

constexpr int search_threads = 256;

/// A warp a share: its lanes look at 32 rows at a time, so that few loads wait for one another. first_rows: [shares + 1] of
/// each share; that behind the last one has all rows before it.
template <typename Shape>
__global__ void __launch_bounds__(search_threads)
    find_first_rows(const Offset* __restrict__ row_ends, const MergeShares<Shape> shares, Index* __restrict__ first_rows) {
    const Offset share = (static_cast<Offset>(blockIdx.x) * search_threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (share > shares.count()) return;
    const Offset steps = shares.begin(share);
    SearchRange range{0, shares.rows};  // of every share, whose first probes then find in the cache what others have loaded
    while (!range.done()) {
        const Index row = range.probe(lane, 32);
        range = range.narrowed(__popc(__ballot_sync(~0U, ends_before(__ldg(row_ends + row), row, steps))), 32);
    }
    if (lane == 0) first_rows[share] = range.begin;
}

/// Shared memory of a block. What it has of row ends and of products are its steps, together.
template <typename Shape, typename Value>
struct MergeMemory {
    Value products[Shape::steps];
    int row_ends[Shape::steps + 1];  // from the block's first nonzero on; one that never comes after them
    SegmentsOfWarps<Shape::threads, Value> of_warps;
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

template <typename Shape, typename Value>
__global__ void __launch_bounds__(Shape::threads, Shape::resident_blocks)
    multiply_shares(const __grid_constant__ Csr<Value, ArrayView> csr, const Index* __restrict__ first_rows,
                    const Value* __restrict__ x, Value* __restrict__ y, Index* __restrict__ carried_rows,
                    Value* __restrict__ carried, bool accumulate) {
    __shared__ MergeMemory<Shape, Value> memory;
    const int thread = static_cast<int>(threadIdx.x);
    const MergeShares<Shape> shares{csr.row_count, csr.values.size()};
    const Offset begin = shares.begin(blockIdx.x);
    const Offset end = shares.begin(Offset{blockIdx.x} + 1);
    const Index first_row = __ldg(first_rows + blockIdx.x);
    const int rows = __ldg(first_rows + blockIdx.x + 1) - first_row;
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

template <ValueType Value>
class CsrMerge final : public Kernel<Value> {
public:
    CsrMerge(const CsrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          csr_(copy_to(device, layout.stored(), "csr")),
          shares_{layout.row_count, layout.nonzeros()},
          bytes_(layout.bytes_to_move() + 2 * (shares_.count() + 1) * static_cast<std::int64_t>(sizeof(Index)) +
                 2 * shares_.count() * static_cast<std::int64_t>(sizeof(Index) + sizeof(Value))),
          first_rows_(device.allocate((shares_.count() + 1) * sizeof(Index), "csr merge first rows")),
          carried_rows_(device.allocate(shares_.count() * sizeof(Index), "csr merge carried rows")),
          carried_(device.allocate(shares_.count() * sizeof(Value), "csr merge carried sums")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Offset blocks = shares_.count();
        if (blocks == 0) return;
        auto* const first_rows = first_rows_.as<Index>();
        auto* const carried_rows = carried_rows_.as<Index>();
        auto* const carried = carried_.as<Value>();
        find_first_rows<<<blocks_for(32 * (blocks + 1), search_threads), search_threads, 0, stream_>>>(
            csr_.row_offsets.data() + 1, shares_, first_rows);
        check_launch("csr merge search");
        multiply_shares<Merge><<<static_cast<unsigned>(blocks), Merge::threads, 0, stream_>>>(
            view_of(csr_), first_rows, x, y, carried_rows, carried, accumulate);
        check_launch("csr merge");
        if (blocks == 1) return;  // nothing is carried
        launch_add_carried(carried_rows, carried, blocks, y, stream_, "csr merge carries");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    Csr<Value, DeviceArray> csr_;
    MergeShares<Merge> shares_;
    std::int64_t bytes_;
    DeviceMemory first_rows_;    // [shares + 1]
    DeviceMemory carried_rows_;  // [shares] the row that goes on in the next share, -1: none
    DeviceMemory carried_;       // [shares] its sum in this share
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::make_unique<CsrMerge<Value>>(dynamic_cast<const CsrLayout<Value>&>(layout), device);
}

}  // namespace

std::vector<KernelEntry> csr_merge_kernels() {
    return {{"merge",
             Backend::cuda,
             "equal shares of row ends and nonzeros (merge path), a block each; first a search for where they begin",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
