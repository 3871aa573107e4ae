// Segmented formats on a GPU, after the slides of Nagasaka: a block for 256 rows of a piece, a thread a stored row. Blocks are
// numbered segment after segment and the hardware starts them in that order, so that the blocks under way at any time read
// the x of one segment, or of two where one ends.
//
// Races in global memory:
//  - two_phase: the first kernel writes each stored row's sum by one thread; the second starts after it and writes each row of
//    y by one thread, which adds up the sums of its row in the order of the segments: the same result in every run;
//  - atomic: a row is stored in several pieces, hence all additions to y are atomic, to a y that was set before, on the same
//    stream. The order of the additions, and with it the last bits of y, may change from run to run.
// No shared memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/device_jagged.cuh"
#include "kernels/common/storage/device_slices.cuh"
#include "kernels/segmented/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = rows_per_block;
constexpr int entries_in_flight = 4;

/// What a kernel sees of pieces in slices. Height 0: known only when it runs.
template <int Height, typename Value, typename ColumnIndex>
struct SlicedPieces {
    SlicesView<Value, ColumnIndex> slices;
    const Index* group_slices = nullptr;  // [pieces + 1]

    __device__ __forceinline__ Value multiply(Index piece, Offset place, const Value* __restrict__ x) const {
        const int height = Height == 0 ? slices.height : Height;
        return slices.template multiply_lane<Height, entries_in_flight>(
            group_slices[piece] + static_cast<Index>(place / height), static_cast<int>(place % height), x);
    }
};

/// What a kernel sees of pieces in jagged diagonals.
template <typename Value, typename ColumnIndex>
struct JaggedPieces {
    JaggedView<Value, ColumnIndex> jagged;

    __device__ __forceinline__ Value multiply(Index piece, Offset place, const Value* __restrict__ x) const {
        return jagged.template multiply_row<entries_in_flight>(jagged.group_diagonals[piece], jagged.group_diagonals[piece + 1],
                                                               place, x);
    }
};

struct RowsView {
    const PieceBlock* blocks = nullptr;      // [blocks]
    const Index* segment_columns = nullptr;  // [pieces + 1]
    const Index* piece_starts = nullptr;     // [pieces + 1]
    const Index* stored_rows = nullptr;      // [stored rows]; atomic only
};

/// The sum of each stored row: added to its row of `result` where `atomically`, otherwise written to its own place there.
template <bool atomically, typename Pieces, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply_pieces(RowsView rows, Pieces pieces, const Value* __restrict__ x, Value* __restrict__ result) {
    const PieceBlock block = rows.blocks[blockIdx.x];
    const Offset place = Offset{block.first_place} + threadIdx.x;
    const Offset stored = rows.piece_starts[block.piece] + place;
    if (stored >= rows.piece_starts[block.piece + 1]) return;
    const Value sum = pieces.multiply(block.piece, place, x + rows.segment_columns[block.piece]);
    if constexpr (atomically) {
        atomicAdd(result + rows.stored_rows[stored], sum);
    } else {
        result[stored] = sum;
    }
}

/// The second phase: a thread a row of y.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    add_up(Index rows, const Index* __restrict__ row_starts, const Index* __restrict__ row_places,
           const Value* __restrict__ partial_sums, Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    const Index end = row_starts[row + 1];
    Value sum = 0;
    for (Index i = row_starts[row]; i < end; ++i) sum += partial_sums[row_places[i]];
    write_result(y + row, sum, accumulate);
}

/// The copies, and the launch that goes with the storage of the pieces.
template <ValueType Value, bool atomically>
class PiecesOnDevice {
public:
    PiecesOnDevice() = default;
    PiecesOnDevice(const PiecesOnDevice&) = delete;
    PiecesOnDevice& operator=(const PiecesOnDevice&) = delete;
    virtual ~PiecesOnDevice() = default;
    virtual void launch(unsigned blocks, const RowsView& rows, const Value* x, Value* result, cudaStream_t stream) const = 0;
};

template <ValueType Value, bool atomically, typename ColumnIndex>
class SlicesOnDevice final : public PiecesOnDevice<Value, atomically> {
public:
    SlicesOnDevice(Device& device, const Slices<Value, ColumnIndex>& slices)
        : slices_(device, slices, "segmented"),
          group_slices_(to_device(device, std::span(slices.group_slices), "segmented slices of pieces")) {}

    void launch(unsigned blocks, const RowsView& rows, const Value* x, Value* result, cudaStream_t stream) const override {
        const SlicesView<Value, ColumnIndex> view = slices_.view();
        const Index* const groups = group_slices_.as<Index>();
        if (view.height == 32) {
            const SlicedPieces<32, Value, ColumnIndex> pieces{view, groups};
            multiply_pieces<atomically><<<blocks, threads_per_block, 0, stream>>>(rows, pieces, x, result);
        } else {
            const SlicedPieces<0, Value, ColumnIndex> pieces{view, groups};
            multiply_pieces<atomically><<<blocks, threads_per_block, 0, stream>>>(rows, pieces, x, result);
        }
    }

private:
    DeviceSlices<Value, ColumnIndex> slices_;
    DeviceMemory group_slices_;
};

template <ValueType Value, bool atomically, typename ColumnIndex>
class JaggedOnDevice final : public PiecesOnDevice<Value, atomically> {
public:
    JaggedOnDevice(Device& device, const Jagged<Value, ColumnIndex>& jagged) : jagged_(device, jagged, "segmented") {}

    void launch(unsigned blocks, const RowsView& rows, const Value* x, Value* result, cudaStream_t stream) const override {
        const JaggedPieces<Value, ColumnIndex> pieces{jagged_.view()};
        multiply_pieces<atomically><<<blocks, threads_per_block, 0, stream>>>(rows, pieces, x, result);
    }

private:
    DeviceJagged<Value, ColumnIndex> jagged_;
};

template <bool atomically, typename Value, typename ColumnIndex>
std::unique_ptr<PiecesOnDevice<Value, atomically>> copy_pieces(Device& device, const Slices<Value, ColumnIndex>& slices) {
    return std::make_unique<SlicesOnDevice<Value, atomically, ColumnIndex>>(device, slices);
}

template <bool atomically, typename Value, typename ColumnIndex>
std::unique_ptr<PiecesOnDevice<Value, atomically>> copy_pieces(Device& device, const Jagged<Value, ColumnIndex>& jagged) {
    return std::make_unique<JaggedOnDevice<Value, atomically, ColumnIndex>>(device, jagged);
}

/// What both kernels share: the pieces and the blocks that work on them.
template <ValueType Value, bool atomically>
class Pieces {
public:
    Pieces(const SegmentedLayout<Value>& layout, Device& device) : Pieces(layout, layout.blocks(), device) {}

    void multiply(const Index* stored_rows, const Value* x, Value* result, cudaStream_t stream) const {
        if (block_count_ == 0) return;
        const RowsView rows{blocks_.as<PieceBlock>(), segment_columns_.as<Index>(), piece_starts_.as<Index>(), stored_rows};
        pieces_->launch(block_count_, rows, x, result, stream);
        check_launch("segmented pieces");
    }

private:
    Pieces(const SegmentedLayout<Value>& layout, const std::vector<PieceBlock>& blocks, Device& device)
        : block_count_(static_cast<unsigned>(blocks.size())),
          blocks_(to_device(device, std::span(blocks), "segmented blocks")),
          segment_columns_(to_device(device, std::span(layout.segment_columns), "segmented columns of segments")),
          piece_starts_(to_device(device, std::span(layout.piece_starts), "segmented rows of pieces")),
          pieces_(std::visit([&](const auto& pieces) { return copy_pieces<atomically>(device, pieces); }, layout.pieces)) {}

    unsigned block_count_;
    DeviceMemory blocks_;
    DeviceMemory segment_columns_;
    DeviceMemory piece_starts_;
    std::unique_ptr<PiecesOnDevice<Value, atomically>> pieces_;
};

template <ValueType Value>
class TwoPhaseKernel final : public Kernel<Value> {
public:
    TwoPhaseKernel(const SegmentedLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          bytes_(layout.two_phase_bytes()),
          pieces_(layout, device),
          row_starts_(to_device(device, std::span(layout.row_starts), "segmented starts of rows")),
          row_places_(to_device(device, std::span(layout.row_places), "segmented places of rows")),
          partial_sums_(device.allocate(layout.stored_rows.size() * sizeof(Value), "segmented partial sums")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        pieces_.multiply(nullptr, x, partial_sums_.as<Value>(), stream_);
        add_up<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(
            rows_, row_starts_.as<Index>(), row_places_.as<Index>(), partial_sums_.as<Value>(), y, accumulate);
        check_launch("segmented second phase");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    Index rows_;
    std::int64_t bytes_;
    Pieces<Value, false> pieces_;
    DeviceMemory row_starts_;
    DeviceMemory row_places_;
    DeviceMemory partial_sums_;
};

template <ValueType Value>
class AtomicKernel final : public Kernel<Value> {
public:
    AtomicKernel(const SegmentedLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          bytes_(layout.atomic_bytes()),
          pieces_(layout, device),
          stored_rows_(to_device(device, std::span(layout.stored_rows), "segmented stored rows")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        if (!accumulate) zero_result(y, rows_, stream_);
        pieces_.multiply(stored_rows_.as<Index>(), x, y, stream_);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    Index rows_;
    std::int64_t bytes_;
    Pieces<Value, true> pieces_;
    DeviceMemory stored_rows_;
};

}  // namespace

std::vector<KernelEntry> segmented_cuda_kernels() {
    return {
        {"two_phase", Backend::cuda,
         "one thread a stored row, segment after segment, writes its sum; then one thread a row of y adds up its sums",
         prepare_as<TwoPhaseKernel, SegmentedLayout>},
        {"atomic", Backend::cuda,
         "y is set to zero; one thread a stored row, segment after segment, adds its sum to y atomically",
         prepare_as<AtomicKernel, SegmentedLayout>},
    };
}

}  // namespace workbench
