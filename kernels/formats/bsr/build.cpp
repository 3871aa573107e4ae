#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/bsr/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "bsr"
block_size = 2
)";

constexpr int block_rows_at_once = 128;  // of a thread of the host

/// Sizes that "auto" chooses from.
constexpr std::array<Index, 7> automatic_sizes{2, 3, 4, 5, 6, 7, 8};

constexpr auto fill = []<ValueType Value>(BsrLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index size = parameters.is_word("block_size", "auto") ? choose_block_size<Value>(view, automatic_sizes)
                                                                : static_cast<Index>(parameters.integer("block_size"));
    const SlotBound bound{parameters.real("slots_per_nonzero"),
                          "smaller blocks (block_size) have fewer, and slots_per_nonzero allows more"};
    static_cast<Blocks<Value, HostArray>&>(layout) = build_blocks<Value>(view, size, bound);
    layout.lanes = bsr_lanes(size, layout.block_rows(), static_cast<Offset>(layout.block_columns.size()));
    layout.pattern = Pattern(matrix);
};

/// Throws std::logic_error unless the offsets tile the arrays and all blocks begin in the matrix.
template <ValueType Value>
void require_sound_blocks(const Blocks<Value, HostArray>& blocks, Index column_count) {
    const Index block_columns = column_count / blocks.block_size + (column_count % blocks.block_size > 0 ? 1 : 0);
    const std::size_t area = std::size_t(blocks.block_size) * std::size_t(blocks.block_size);
    const auto exists = [=](Index block_column) { return block_column >= 0 && block_column < block_columns; };
    const bool sound = tiles(blocks.block_offsets, blocks.block_columns.size()) &&
                       blocks.values.size() == blocks.block_columns.size() * area &&
                       std::all_of(blocks.block_columns.begin(), blocks.block_columns.end(), exists);
    if (!sound) throw std::logic_error("bsr: the offsets do not tile the arrays, or a block begins outside the matrix");
}

template <ValueType Value>
class BsrBlockRows final : public Kernel<Value> {
public:
    explicit BsrBlockRows(const BsrLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const auto use = [&](auto size) { multiply<size>(x, y, accumulate); };
        layout_.block_size <= largest_known ? with_known<2, 3, 4, 5, 6>(layout_.block_size, use) : use(Known<0>{});
    }

private:
    static constexpr Index largest_known = 6;
    static constexpr int values_of_line = 64 / sizeof(Value);

    template <int known_size>
    static auto size_of(const Bsr<Value, ArrayView>& bsr) {
        if constexpr (known_size == 0) {
            return bsr.block_size;
        } else {
            return Known<known_size>{};
        }
    }

    /// known_size: the block size if it is known at compile time, so that the compiler unrolls the product of a block and keeps
    /// its sums in registers; otherwise 0.
    template <int known_size>
    void multiply(const Value* x, Value* y, bool accumulate) const {
        const Bsr<Value, ArrayView> bsr = view_of(layout_.stored());
        const auto size = size_of<known_size>(bsr);
        const Index whole_columns = bsr.column_count / size;  // of blocks; a block right of them exceeds the matrix
        for_each_in_parallel(bsr.block_rows(), block_rows_at_once, [&](std::int64_t block_row) {
            std::array<Value, known_size == 0 ? largest_block : known_size> sums{};
            const auto add_block = [&](Index block, auto columns) {
                const Value* const values = bsr.values.data() + Offset{block} * size * size;
                for (int i = 0; i < size * size; i += values_of_line)
                    __builtin_prefetch(values + bytes_ahead / sizeof(Value) + i);
                const Value* const own_x = x + Offset{bsr.block_columns[block]} * size;
                for (Index r = 0; r < size; ++r) {
                    for (Index c = 0; c < columns; ++c) sums[r] += values[r * size + c] * own_x[c];
                }
            };
            const Index end = bsr.block_offsets[block_row + 1];
            Index block = bsr.block_offsets[block_row];
            // Only the last block of a row may exceed the matrix, because columns ascend.
            const Index whole_end = block < end && bsr.block_columns[end - 1] >= whole_columns ? end - 1 : end;
            for (; block < whole_end; ++block) add_block(block, size);
            if (block < end) add_block(block, bsr.column_count - whole_columns * size);
            const std::int64_t first_row = block_row * size;
            const auto rows = static_cast<Index>(std::min<std::int64_t>(size, bsr.row_count - first_row));
            for (Index r = 0; r < rows; ++r) put(y, static_cast<Index>(first_row + r), sums[r], accumulate);
        });
    }

    const BsrLayout<Value>& layout_;
};

/// The steps of a pass, which all lanes of a group make.
Offset steps_of_pass(const auto& bsr, Offset block_row) {
    const Index blocks = bsr.block_offsets[block_row + 1] - bsr.block_offsets[block_row];
    return (blocks + bsr.lanes.blocks_at_once - 1) / bsr.lanes.blocks_at_once;
}

constexpr auto walk_groups = [](const auto& layout, const auto& visit) {
    using Groups = BsrGroups<0>;
    const auto& bsr = layout.stored();
    Slot slot{.array = array_number(bsr, bsr.values)};
    for (Offset warp = 0; warp < Groups::warps(bsr); ++warp) {
        for (int lane = 0; lane < 32; ++lane) {
            const BsrPlace place = Groups::place(bsr, warp, lane);
            Offset first_step = 0;
            for (int first_row = 0; first_row < bsr.block_size; first_row += bsr.lanes.rows_at_once) {
                const BlockRun run = Groups::run(bsr, place, first_row);
                for (Offset k = 0; k < run.count; ++k) {
                    read_slot<Groups>(bsr, run, k, slot);
                    visit(read_of(slot, warp * 32 + lane, first_step + k));
                }
                if (place.works) first_step += steps_of_pass(bsr, place.block_row);
            }
        }
    }
};

LayoutCost predict_bsr(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const auto cost_of_size = [&](Index size) {
        const Offset blocks = pattern.blocks(size, size);
        const Offset area = Offset{size} * size;
        const std::int64_t bytes =
            (pieces_of(pattern.rows(), size) + 1 + blocks) * index_bytes + blocks * area * value_bytes(precision);
        return cost_of_arrays(pattern, precision, blocks * area, bytes, 0.45);
    };
    LayoutCost cost;
    if (parameters.is_word("block_size", "auto")) {
        for (const Index size : automatic_sizes) {
            LayoutCost other = cost_of_size(size);
            if (cost.array_bytes == 0 || other.array_bytes < cost.array_bytes) cost = std::move(other);
        }
    } else {
        cost = cost_of_size(static_cast<Index>(parameters.integer("block_size")));
    }
    cost.exact = pattern.is_exact();
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

}  // namespace

template <ValueType Value>
void BsrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_blocks(this->stored(), this->column_count);
    PatternWalk walk(pattern);
    Slot slot{.array = array_number(this->stored(), this->values),
              .column_array = array_number(this->stored(), this->block_columns)};
    for (Index block_row = 0; block_row < this->block_rows(); ++block_row) {
        for (Index block = this->block_offsets[block_row]; block < this->block_offsets[block_row + 1]; ++block) {
            slot.column_index = block;
            for (Index r = 0; r < this->block_size; ++r) {
                const Offset row = Offset{block_row} * this->block_size + r;
                slot.row = row < this->row_count ? static_cast<Index>(row) : -1;
                for (Index c = 0; c < this->block_size; ++c, ++slot.index) {
                    const Offset column = Offset{this->block_columns[block]} * this->block_size + c;
                    slot.column = column < this->column_count ? static_cast<Index>(column) : -1;
                    slot.nonzero = walk.nonzero_at(slot.row, slot.column);
                    visit(slot);
                }
            }
        }
    }
}

LayoutEntry bsr_entry() {
    return format<BsrLayout>(
               {.summary =
                    "block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column per block",
                .source = "Im and Yelick, 'Optimizing sparse matrix computations for register reuse in SPARSITY' (2001)",
                .examples = {std::string(example)},
                .parameters = {{.name = "block_size",
                                .type = ParameterType::integer,
                                .default_value = std::string("auto"),
                                .minimum = 2,
                                .maximum = largest_block,
                                .words = {"auto"},
                                .unit = "rows",
                                .help = "rows and columns of a block; auto: the size from 2 to 8 that takes least memory"},
                               slots_per_nonzero_parameter(4)},
                .rows_of_share = RowsOfShare::all,
                .storage_sizes = bsr_storage_sizes,
                .predict = predict_bsr},
               fill)
        .host<BsrBlockRows>("block_rows", "block rows in parallel")
        .vectors<BsrRow>()
        .cuda<BsrKernel>("groups", "one group of lanes per block row, neighbouring lanes on neighbouring values of its blocks",
                         walk_groups)
        .with_cuda<bsr_cusparse_kernels>();
}

}  // namespace workbench
