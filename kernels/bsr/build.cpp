#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "kernels/bsr/layout.hpp"
#include "kernels/bsr/storage_size.hpp"
#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/value_range.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
with block_size = 2; a dot is padding: value 0

block_offsets   0 3 5 7

                block row 0                       block row 1           block row 2
block_columns   0         1         2             1         2           0          2
values          1 2 . 4 | 3 . 5 . | . . 6 .       7 . . 8 | . . . 9     10 . . . | 11 12 . 13
)";

/// Sizes that "auto" chooses from.
constexpr std::array<Index, 7> automatic_sizes{2, 3, 4, 5, 6, 7, 8};

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const CsrView<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index size = parameters.is_word("block_size", "auto") ? choose_block_size<Value>(view, automatic_sizes)
                                                                : static_cast<Index>(parameters.integer("block_size"));
    const SlotBound bound{parameters.real("slots_per_nonzero"),
                          "smaller blocks (block_size) have fewer, and slots_per_nonzero allows more"};
    auto layout = std::make_unique<BsrLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->blocks = build_blocks<Value>(view, size, bound);
    layout->pattern = Pattern(matrix);
    return layout;
}

/// Offsets that tile the arrays, and columns of blocks that begin in the matrix.
template <ValueType Value>
void require_sound_blocks(const Blocks<Value>& blocks, Index column_count) {
    const Index block_columns = column_count / blocks.size + (column_count % blocks.size > 0 ? 1 : 0);
    const std::size_t area = std::size_t(blocks.size) * std::size_t(blocks.size);
    const auto exists = [=](Index block_column) { return block_column >= 0 && block_column < block_columns; };
    const bool sound = tiles(blocks.offsets, blocks.columns.size()) && blocks.values.size() == blocks.columns.size() * area &&
                       std::all_of(blocks.columns.begin(), blocks.columns.end(), exists);
    if (!sound) throw std::logic_error("bsr: the offsets do not tile the arrays, or a block begins outside the matrix");
}

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> BsrLayout<Value>::arrays() const {
    return {layout_array("block_offsets", ArrayRole::structure, blocks.offsets),
            layout_array("block_columns", ArrayRole::column, blocks.columns),
            layout_array("values", ArrayRole::value, blocks.values)};
}

/// As the groups of the CUDA kernel read them.
template <ValueType Value>
void BsrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_blocks(blocks, column_count);
    const BsrLanes shape = lanes();
    PatternWalk walk(pattern);
    Slot slot{.array = 2, .column_array = 1};
    for (Index block_row = 0; block_row < blocks.block_rows(); ++block_row) {
        const Index first_block = blocks.offsets[block_row];
        const Index count = blocks.offsets[block_row + 1] - first_block;
        const std::int64_t steps_per_pass = (count + shape.blocks_at_once - 1) / shape.blocks_at_once;
        const int first_lane = block_row % shape.groups_per_warp * shape.lanes_per_group();
        slot.warp = block_row / shape.groups_per_warp;
        for (Index k = 0; k < count; ++k) {
            slot.column_index = first_block + k;
            for (Index r = 0; r < blocks.size; ++r) {
                const Offset row = Offset{block_row} * blocks.size + r;
                slot.row = row < row_count ? static_cast<Index>(row) : -1;
                slot.step = r / shape.rows_at_once * steps_per_pass + k / shape.blocks_at_once;
                for (Index c = 0; c < blocks.size; ++c, ++slot.index) {
                    const Offset column = Offset{blocks.columns[slot.column_index]} * blocks.size + c;
                    slot.column = column < column_count ? static_cast<Index>(column) : -1;
                    slot.nonzero = walk.nonzero_at(slot.row, slot.column);
                    slot.lane = first_lane + k % shape.blocks_at_once * shape.tile + r % shape.rows_at_once * blocks.size + c;
                    visit(slot);
                }
            }
        }
    }
}

template struct BsrLayout<float>;
template struct BsrLayout<double>;

LayoutEntry bsr_entry() {
    LayoutEntry entry{
        .name = "bsr",
        .summary = "block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column a block",
        .source = "Im and Yelick, 'Optimizing sparse matrix computations for register reuse in SPARSITY' (2001)",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {{.name = "block_size",
                        .type = ParameterType::integer,
                        .default_value = std::string("auto"),
                        .minimum = 2,
                        .maximum = largest_block,
                        .words = {"auto"},
                        .unit = "rows",
                        .help = "rows and columns of a block; auto: the size from 2 to 8 that takes least memory"},
                       slots_per_nonzero_parameter(4)},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .storage_sizes = bsr_storage_sizes,
        .kernels = bsr_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(bsr_cuda_kernels());
        entry.add(bsr_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
