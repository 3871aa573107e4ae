// CSR by equal shares of the merge path (merge_path.hpp): each block takes a share of row ends and nonzeros. A first kernel
// finds where the shares begin, a warp a share. In the main kernel a block loads the products and row ends of its share to
// shared memory, and each thread follows its part of the path. A segmented sum over the block joins the parts, and a third
// kernel carries the sum that a block leaves open to the end of its row.
//
// Races: each kernel starts after the previous one has ended. One lane writes each first row. A row of y is written by the one
// thread whose part holds the row's end. The first thread of a block writes its carried sum, and one warp of the third kernel
// adds all sums carried to a row. In shared memory a barrier separates writes and reads.
#pragma once

#include <limits>

#include "kernels/common/device_code/carries.cuh"
#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"

namespace workbench::csr_merge {

constexpr int search_threads = 256;

/// Each warp takes a share: its lanes probe 32 rows at a time, so that few loads wait for one another. first_rows: [shares + 1]
/// of each share, and the number of rows.
template <typename Ends>
__global__ void __launch_bounds__(search_threads)
    find_first_rows(const Ends* __restrict__ row_ends, const MergeShares shares, Index* __restrict__ first_rows) {
    const Offset share = (static_cast<Offset>(blockIdx.x) * search_threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (share > shares.count()) return;
    const Offset steps = shares.begin(share);
    SearchRange range{0, shares.rows};  // the same for every share, so that the first probes hit the cache
    while (!range.done()) {
        const Index row = range.probe(lane, 32);
        range = range.narrowed(__popc(__ballot_sync(~0U, ends_before(__ldg(row_ends + row), row, steps))), 32);
    }
    if (lane == 0) first_rows[share] = range.begin;
}

/// Shared memory of a block, whose row ends and products together are its steps.
template <typename Shape, typename Value>
struct MergeMemory {
    Value products[Shape::size];
    int row_ends[Shape::size + 1];  // from the block's first nonzero on; the last element is never reached
    SegmentsOfWarps<Shape::threads, Value> of_warps;
};

/// A thread without a nonzero of its own loads the last one again, so that no load is behind a branch and all are in flight
/// together.
template <typename Shape, typename Value>
__device__ __forceinline__ void load_share(const Csr<Value, ArrayView>& csr, const MergeShare& share, const auto& load,
                                           const Value* __restrict__ x, MergeMemory<Shape, Value>& memory) {
    const auto [first, nonzeros, first_row, rows] = share;
    const int thread = static_cast<int>(threadIdx.x);
    const Offset* const row_ends = csr.row_offsets.data() + first_row + 1;
    const auto load_row_ends = [&] {
        for (int row = thread; row <= share.rows; row += Shape::threads) {
            memory.row_ends[row] =
                row < share.rows ? static_cast<int>(load(row_ends + row) - share.first) : std::numeric_limits<int>::max();
        }
    };
    if (nonzeros == 0) return load_row_ends();
    const Value* const values = csr.values.data() + first;
    const Index* const columns = csr.column_indices.data() + first;
    Value value[Shape::loads];
    Index column[Shape::loads];
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k) {
        const int own = Shape::place(k, thread);
        const int place = min(own, nonzeros - 1);
        column[k] = load(columns + place, own == place);
        value[k] = load(values + place, own == place);
    }
    load_row_ends();
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k) memory.products[Shape::place(k, thread)] = value[k] * x[column[k]];
}

template <typename Shape, typename Load, typename Value>
__global__ void __launch_bounds__(Shape::threads, Shape::resident_blocks)
    multiply_shares(const __grid_constant__ Csr<Value, ArrayView> csr, const Load load, const Index* __restrict__ first_rows,
                    const Value* __restrict__ x, Value* __restrict__ y, const Carried<Value> carried, bool accumulate) {
    __shared__ MergeMemory<Shape, Value> memory;
    const int thread = static_cast<int>(threadIdx.x);
    const MergeShares shares{csr.row_count, csr.values.size(), Shape::size};
    const Offset begin = shares.begin(blockIdx.x);
    const Offset end = shares.begin(Offset{blockIdx.x} + 1);
    const Index first_row = __ldg(first_rows + blockIdx.x);
    const int rows = __ldg(first_rows + blockIdx.x + 1) - first_row;
    const int steps = static_cast<int>(end - begin);
    const int nonzeros = steps - rows;
    load_share<Shape>(csr, {begin - first_row, nonzeros, first_row, rows}, load, x, memory);
    __syncthreads();

    // The sum of the row that ends first is written after the segmented sum: earlier threads have nonzeros of it.
    const int first_step = min(thread * Shape::loads, steps);
    const int last_step = min(first_step + Shape::loads, steps);
    int row = merge_path_search(memory.row_ends, rows, first_step);
    int nonzero = first_step - row;
    int row_end = memory.row_ends[row];
    const int own_first_row = row;
    Segment<Value> own;
    Value first_sum = 0;
#pragma unroll
    for (int k = 0; k < Shape::loads; ++k) {
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
        // No row is open if the last nonzero here is that of a row that ends here.
        const bool is_open = nonzeros > (rows == 0 ? 0 : memory.row_ends[rows - 1]);
        carried.rows[blockIdx.x] = is_open ? first_row + rows : -1;
        carried.sums[blockIdx.x] = sums.left_open;
    }
}

/// Launches find_first_rows. row_offsets, first_rows: on the device.
inline void find_first_rows(const Offset* row_offsets, const MergeShares& shares, Index* first_rows, cudaStream_t stream) {
    find_first_rows<<<blocks_for(32 * (shares.count() + 1), search_threads), search_threads, 0, stream>>>(row_offsets + 1,
                                                                                                          shares, first_rows);
    check_launch("csr merge search");
}

template <ValueType Value>
class MergeKernel final : public Kernel<Value> {
public:
    MergeKernel(const CsrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          csr_(copy_to(device, full_csr<Value>(layout, "merge"), "csr")),
          shares_{layout.rows(), layout.nonzeros(), Merge::size},
          bytes_(layout.bytes_to_move() + 2 * (shares_.count() + 1) * static_cast<std::int64_t>(sizeof(Index)) +
                 Carries<Value>::bytes(shares_.count(), 1)),
          first_rows_(device.allocate((shares_.count() + 1) * sizeof(Index), "csr merge first rows")),
          carries_(device, shares_.count(), 1, "csr merge") {}

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        const Offset blocks = shares_.count();
        if (blocks == 0) return;
        auto* const first_rows = first_rows_.as<Index>();
        find_first_rows(csr_.row_offsets.data(), shares_, first_rows, stream_);
        multiply_shares<Merge><<<static_cast<unsigned>(blocks), Merge::threads, 0, stream_>>>(
            view_of(csr_), load, first_rows, x, y, carries_.view(), accumulate);
        check_launch("csr merge");
        if (blocks > 1) carries_.add_to(y, csr_.row_count, stream_);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }
    [[nodiscard]] const Csr<Value, DeviceArray>& stored() const { return csr_; }
    [[nodiscard]] Offset launched_threads() const { return shares_.count() * Merge::threads; }

private:
    cudaStream_t stream_;
    Csr<Value, DeviceArray> csr_;
    MergeShares shares_;
    std::int64_t bytes_;
    DeviceMemory first_rows_;  // [shares + 1]
    Carries<Value> carries_;
};

}  // namespace workbench::csr_merge
