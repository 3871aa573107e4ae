#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_jagged.hpp"
#include "kernels/common/storage/multiply_slice.hpp"
#include "kernels/segmented/layout.hpp"

namespace workbench {
namespace {

static_assert(rows_per_block == jagged_chunk, "a block of rows is what multiply_jagged does at a time");

/// Stored rows in parallel into a vector of their own, segment after segment; then the rows of y from there.
template <ValueType Value>
class SegmentedTwoPhase final : public Kernel<Value> {
public:
    explicit SegmentedTwoPhase(const SegmentedLayout<Value>& layout)
        : layout_(layout), blocks_(layout.blocks()), partial_sums_(layout.stored_rows.size()) {
        const auto note_pieces = [&]<typename ColumnIndex>(const Slices<Value, ColumnIndex>& slices) {
            for (Index piece = 0; piece < slices.group_count(); ++piece) {
                piece_of_slice_.resize(slices.group_slices[piece + 1], piece);
            }
        };
        if (const auto* wide = std::get_if<Slices<Value, Index>>(&layout.pieces)) note_pieces(*wide);
        if (const auto* narrow = std::get_if<Slices<Value, std::uint16_t>>(&layout.pieces)) note_pieces(*narrow);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        std::visit([&](const auto& pieces) { multiply(pieces, x); }, layout_.pieces);
        for_each_in_parallel(layout_.row_count, rows_per_block, [&](std::int64_t row) {
            Value sum = 0;
            for (Index i = layout_.row_starts[row]; i < layout_.row_starts[row + 1]; ++i) {
                sum += partial_sums_[layout_.row_places[i]];
            }
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.two_phase_bytes(); }

private:
    template <typename ColumnIndex>
    void multiply(const Slices<Value, ColumnIndex>& slices, const Value* x) {
        for_each_in_parallel(slices.slice_count(), slice_chunk, [&](std::int64_t slice) {
            const Index piece = piece_of_slice_[slice];
            const Offset first =
                layout_.piece_starts[piece] + (slice - slices.group_slices[piece]) * Offset{slices.slice_height};
            const Offset end = layout_.piece_starts[piece + 1];
            multiply_slice(slices, static_cast<Index>(slice), x + layout_.segment_columns[piece], [&](Index lane, Value sum) {
                if (first + lane < end) partial_sums_[first + lane] = sum;
            });
        });
    }

    template <typename ColumnIndex>
    void multiply(const Jagged<Value, ColumnIndex>& jagged, const Value* x) {
        for_each_in_parallel(static_cast<std::int64_t>(blocks_.size()), 1, [&](std::int64_t block) {
            const auto [piece, first_place] = blocks_[block];
            Value* sums = partial_sums_.data() + layout_.piece_starts[piece];
            multiply_jagged(jagged, piece, first_place, x + layout_.segment_columns[piece],
                            [&](Offset place, Value sum) { sums[place] = sum; });
        });
    }

    const SegmentedLayout<Value>& layout_;
    std::vector<PieceBlock> blocks_;
    std::vector<Index> piece_of_slice_;  // [slices]; empty for jagged diagonals
    std::vector<Value> partial_sums_;    // [stored rows]
};

}  // namespace

std::vector<KernelEntry> segmented_reference_kernels() {
    return {{.name = "two_phase",
             .backend = Backend::kokkos,
             .summary = "the rows of all pieces in parallel, segment after segment; then the rows of y add up theirs",
             .prepare = prepare_as<SegmentedTwoPhase, SegmentedLayout>}};
}

}  // namespace workbench
