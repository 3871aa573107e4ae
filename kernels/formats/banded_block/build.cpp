#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/banded_block/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "banded_block"
block_height = 2
block_width = 2
slots_per_nonzero = 5
)";

constexpr int block_row_chunk = 32;  // block rows that a thread of the host takes at a time

struct Band {
    Offset first = std::numeric_limits<Offset>::max();  // block, counted from the diagonal block
    Offset last = std::numeric_limits<Offset>::min();
};

/// The narrowest band of blocks that holds all nonzeros, found from the first and last column of each row.
Band find_band(const CsrMatrix& matrix, Index height, Index width) {
    Band band;
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto columns = matrix.row_columns(row);
        if (columns.empty()) continue;
        const Offset diagonal_block = Offset{row / height} * height / width;
        band.first = std::min(band.first, columns.front() / width - diagonal_block);
        band.last = std::max(band.last, columns.back() / width - diagonal_block);
    }
    return band;
}

template <ValueType Value>
void fill_blocks(BandedBlockLayout<Value>& layout, const CsrMatrix& matrix) {
    const Index height = layout.block_height;
    for_each_in_parallel(layout.block_rows(), block_row_chunk, [&](std::int64_t block_row) {
        const Offset first_column = layout.first_column(static_cast<Index>(block_row));
        const Offset first_row = block_row * height;
        const Offset end_row = std::min<Offset>(first_row + height, matrix.rows);
        Value* const band = layout.values.data() + first_row * layout.band_width();
        for (Offset row = first_row; row < end_row; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                band[(matrix.column_indices[k] - first_column) * height + row - first_row] =
                    static_cast<Value>(matrix.values[k]);
            }
        }
    });
}

constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.block_height = static_cast<Index>(parameters.integer("block_height"));
    layout.block_width = static_cast<Index>(parameters.integer("block_width"));
    layout.pattern = Pattern(matrix);
    if (matrix.nonzeros() == 0) return;
    const Band band = find_band(matrix, layout.block_height, layout.block_width);
    const Offset blocks_per_row = band.last - band.first + 1;
    const double slots = static_cast<double>(layout.block_rows()) * layout.block_height * static_cast<double>(blocks_per_row) *
                         layout.block_width;
    require_bounded_slots(fmt::format("{} block rows of {} blocks of {} x {}", layout.block_rows(), blocks_per_row,
                                      layout.block_height, layout.block_width),
                          slots, matrix.nonzeros(), sizeof(layout.values[0]),
                          {parameters.real("slots_per_nonzero"),
                           "an order with a narrower band has fewer (cuthill_mckee), and so have smaller blocks"});
    layout.first_block = static_cast<Index>(band.first);
    layout.blocks_per_row = static_cast<Index>(blocks_per_row);
    make_zeros(layout.values, std::size_t(layout.block_rows()) * layout.block_height * layout.band_width());
    fill_blocks(layout, matrix);
};

template <ValueType Value>
class BandedBlockRows final : public Kernel<Value> {
public:
    explicit BandedBlockRows(const BandedBlockLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Offset height = layout_.block_height;
        const bool may_use_padding = !accumulate || is_finite_vector(x, layout_.column_count);
        for_each_in_parallel(layout_.block_rows(), 32, [&](std::int64_t block_row) {
            if (!may_use_padding) return add_nonzeros(block_row, x, y);
            const Offset first_row = block_row * height;
            const Offset rows = std::min(height, layout_.row_count - first_row);
            Value* const share = y + first_row;
            if (!accumulate) std::fill(share, share + rows, Value{0});
            const Offset first_column = layout_.first_column(static_cast<Index>(block_row));
            const Offset begin = std::max(first_column, Offset{0});
            const Offset end = std::min(first_column + layout_.band_width(), Offset{layout_.column_count});
            const Value* const band = layout_.values.data() + first_row * layout_.band_width();
            for (Offset column = begin; column < end; ++column) {
                const Value* const values = band + (column - first_column) * height;
                for (Offset r = 0; r < rows; ++r) share[r] += values[r] * x[column];
            }
            if (accumulate || is_finite(share[0])) return;  // all rows have the same columns
            std::fill(share, share + rows, Value{0});
            add_nonzeros(block_row, x, y);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    /// Adds the products of a block row to y, without padding.
    [[gnu::cold, gnu::noinline]] void add_nonzeros(std::int64_t block_row, const Value* x, Value* y) const {
        const Offset height = layout_.block_height;
        const Offset first_column = layout_.first_column(block_row);
        const Value* const band = layout_.values.data() + block_row * height * layout_.band_width();
        for (Offset r = 0; r < height && block_row * height + r < layout_.row_count; ++r) {
            const auto row = static_cast<Index>(block_row * height + r);
            for (const Index column : layout_.pattern.columns_of(row)) {
                y[row] += band[(column - first_column) * height + r] * x[column];
            }
        }
    }

    const BandedBlockLayout<Value>& layout_;
};

LayoutCost predict_banded_block(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset height = parameters.integer("block_height");
    const Offset width = parameters.integer("block_width");
    const auto [first, last, count] = pattern.diagonals();
    const Offset band = count == 0 ? 0 : (last - first + height) / width + 1;  // blocks
    const Offset slots = pieces_of(pattern.rows(), height) * height * band * width;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, slots * value_bytes(precision), 1);
    cost.exact = false;
    cost.sectors = static_cast<double>(pieces_of(pattern.rows(), 32) * band * width * value_bytes(precision)) / 32;
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

}  // namespace

template <ValueType Value>
std::int64_t BandedBlockLayout<Value>::bytes_of_product() const {
    Offset inside = 0;
    for (Index block_row = 0; block_row < this->block_rows(); ++block_row) {
        const Offset rows_of_block =
            std::min(Offset{this->block_height}, this->row_count - Offset{block_row} * this->block_height);
        const Offset begin = this->first_column(block_row);
        const Offset end = std::min(begin + this->band_width(), Offset{this->column_count});
        inside += rows_of_block * std::max(end - std::max(begin, Offset{0}), Offset{0});
    }
    const Offset outside = static_cast<Offset>(this->values.size()) - inside;
    return this->bytes_to_move() - outside * static_cast<std::int64_t>(sizeof(Value));
}

LayoutEntry banded_block_entry() {
    const auto side = [](const char* name, const char* unit, const char* help) {
        return ParameterDeclaration{.name = name,
                                    .type = ParameterType::integer,
                                    .default_value = std::int64_t{8},
                                    .minimum = 1,
                                    .maximum = 1024,
                                    .unit = unit,
                                    .help = help};
    };
    return format<BandedBlockLayout>(
               {.summary = "banded blocks: the dense blocks along the band, equally many in each block row, in one array",
                .source = "Wikberg, 'Unstructured mesh FVM with GPU' (dissertation, 2025), banded block format",
                .examples = {std::string(example)},
                .parameters = {side(
                                   "block_height", "rows",
                                   "rows of a block, which are stored side by side: 8 values of f32 fill a sector of 32 bytes"),
                               side("block_width", "columns",
                                    "columns of a block: the band begins and ends at a multiple of it"),
                               slots_per_nonzero_parameter(4)},
                .rows_of_share = RowsOfShare::all,
                .predict = predict_banded_block},
               fill)
        .host<BandedBlockRows>("block_rows", "block rows in parallel, the rows of one side by side")
        .vectors<BandRow>()
        .cuda<BandRow>("rows", "one thread per row, the threads of a block row read neighbouring values and the same x");
}

// For cuda.cu.
template struct BandedBlockLayout<float>;
template struct BandedBlockLayout<double>;

}  // namespace workbench
