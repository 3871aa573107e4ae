// Segmented formats on a GPU, after the slides of Nagasaka: one block per 256 rows of a piece, one thread per stored row.
// Blocks are numbered segment after segment and the hardware starts them in that order, so that the resident blocks read the x
// of one segment, or of two where one ends.
//
// Races in global memory:
//  - two_phase: one thread writes the sum of each stored row; the second kernel starts after the first, and one thread writes
//  each
//    row of y, the sum over its stored rows in the order of the segments: the same result in every run;
//  - atomic: a row is stored in several pieces, so all additions to y are atomic, to a y that was set before, on the same
//  stream.
//    The order of the additions, and with it the last bits of y, may change from run to run.
// No shared memory is used.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/schemes/multiply_jagged.cuh"
#include "kernels/formats/segmented/layout.hpp"

namespace workbench {
namespace {

/// The sum of each stored row, added to its row of `result` if `atomically`, otherwise written to its own place.
template <bool atomically, typename Rows, typename Pieces, typename Value>
__global__ void __launch_bounds__(rows_per_block, Rows::resident_blocks)
    multiply_pieces(const __grid_constant__ Pieces pieces, const Index* __restrict__ rows_of_y, const Value* __restrict__ x,
                    Value* __restrict__ result) {
    const auto slots = Rows::slots(pieces, blockIdx.x, static_cast<Index>(threadIdx.x));
    if (slots.row < 0) return;
    const Value sum = multiply_run<Rows>(pieces, slots, x, StreamingLoad{});
    if constexpr (atomically) {
        atomicAdd(result + rows_of_y[slots.row], sum);
    } else {
        result[slots.row] = sum;
    }
}

/// The second phase: one thread per row of y.
template <typename Value>
__global__ void __launch_bounds__(rows_per_block)
    add_up(Index rows, const Index* __restrict__ row_starts, const Index* __restrict__ row_places,
           const Value* __restrict__ partial_sums, TargetRows target, Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * rows_per_block + threadIdx.x;
    if (row >= rows) return;
    const Index end = row_starts[row + 1];
    Value sum = 0;
    for (Index i = row_starts[row]; i < end; ++i) sum += partial_sums[row_places[i]];
    write_result(y + target[static_cast<Index>(row)], sum, accumulate);
}

template <ValueType Value, typename Stored, bool atomically>
class SegmentedKernel final : public Kernel<Value> {
public:
    SegmentedKernel(const SegmentedLayout<Value>& layout, const Stored& stored, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          bytes_(atomically ? layout.atomic_bytes() : layout.two_phase_bytes()),
          stored_(copy_to(device, stored, "segmented")),
          blocks_(device, layout.blocks(), "segmented blocks"),
          rows_(device, rows, "segmented") {
        if (atomically && !rows.empty()) {
            HostArray<Index> rows_of_y(stored.stored_rows);
            for (Index& row : rows_of_y) row = rows[row];
            rows_of_y_ = {device, rows_of_y, "segmented rows of y"};
        }
        if (!atomically) partial_sums_ = device.allocate(stored.stored_rows.size() * sizeof(Value), "segmented partial sums");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index rows = stored_.row_count;
        if (rows == 0) return;
        if constexpr (atomically) {
            if (!accumulate) rows_.zero(y, rows, stream_);
            multiply(x, y);
        } else {
            auto* const sums = partial_sums_.template as<Value>();
            multiply(x, sums);
            add_up<<<blocks_for(rows, rows_per_block), rows_per_block, 0, stream_>>>(
                rows, stored_.row_starts.data(), stored_.row_places.data(), sums, rows_.view(), y, accumulate);
            check_launch("segmented second phase");
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    void multiply(const Value* x, Value* result) const {
        if (blocks_.size() == 0) return;
        const PiecesInBlocks<InStorage<Stored, ArrayView>> pieces{view_of(stored_), {blocks_.data(), blocks_.size()}};
        with_piece_rows(pieces, [&]<typename Rows>(Rows) {
            const auto blocks = static_cast<unsigned>(blocks_.size());
            const Index* const rows_of_y = rows_of_y_.size() > 0 ? rows_of_y_.data() : stored_.stored_rows.data();
            multiply_pieces<atomically, Rows><<<blocks, rows_per_block, 0, stream_>>>(pieces, rows_of_y, x, result);
        });
        check_launch("segmented pieces");
    }

    cudaStream_t stream_;
    std::int64_t bytes_;
    InStorage<Stored, DeviceArray> stored_;
    DeviceArray<PieceBlock> blocks_;
    OwnedTargetRows rows_;
    DeviceArray<Index> rows_of_y_;  // [stored rows] empty: those of the layout
    DeviceMemory partial_sums_;     // [stored rows]
};

template <ValueType Value, bool atomically>
std::unique_ptr<Kernel<Value>> prepare_rows(const SegmentedLayout<Value>& layout, std::span<const Index> rows, Device& device) {
    return std::visit(
        [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<SegmentedKernel<Value, Stored, atomically>>(layout, stored, rows, device);
        },
        layout.stored);
}

}  // namespace

template <ValueType Value>
struct SegmentedTwoPhase {
    static constexpr auto prepare = prepare_rows<Value, false>;
};
template <ValueType Value>
struct SegmentedAtomic {
    static constexpr auto prepare = prepare_rows<Value, true>;
};

template struct CudaLoop<SegmentedLayout, SegmentedTwoPhase>;
template struct CudaLoop<SegmentedLayout, SegmentedAtomic>;

}  // namespace workbench
