#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/csc/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = []<ValueType Value>(CscLayout<Value>& layout, const StagedMatrix& staged, const Parameters&) {
    CsrMatrix by_columns = transpose(staged.matrix);
    layout.column_offsets = std::move(by_columns.row_offsets);
    layout.row_indices = std::move(by_columns.column_indices);
    if constexpr (std::is_same_v<Value, double>) {
        layout.values = std::move(by_columns.values);
    } else {
        make_copy(layout.values, by_columns.values);
    }
    layout.row_offsets = staged.matrix.row_offsets;
};

template <ValueType Value>
void require_sound_arrays(const CscLayout<Value>& layout) {
    const auto in_range = [&](Index row) { return row >= 0 && row < layout.row_count; };
    const bool sound = tiles(layout.column_offsets, layout.values.size()) &&
                       std::all_of(layout.row_indices.begin(), layout.row_indices.end(), in_range);
    if (!sound) throw std::logic_error("csc: the column offsets do not tile the arrays, or a row does not exist");
}

constexpr auto walk_columns = [](const auto& layout, const auto& visit) {
    const auto& csc = layout.stored();
    with_csc_columns(csc, [&]<Schedule S>(S) {
        for (Offset thread = 0; thread < S::threads(csc); ++thread) {
            const auto run = S::run(csc, thread, PlainLoad{});
            if (run.count > 0) require_run_inside(walked_run(run), static_cast<Offset>(csc.values.size()));
            for (Offset k = 0; k < run.count; ++k) {
                const Slot slot{.array = array_number(csc, csc.values),
                                .index = run.slot(k),
                                .column = run.row,
                                .row = csc.row_indices[run.slot(k)]};
                visit(read_of(slot, thread, k));
            }
        }
    });
};

template <ValueType Value>
class CscColumns final : public Kernel<Value> {
public:
    explicit CscColumns(const CscLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.row_count, Value{0});
        const Offset* offsets = layout_.column_offsets.data();
        const Index* rows = layout_.row_indices.data();
        const Value* values = layout_.values.data();
        for_each_in_parallel(layout_.column_count, 64, [=](std::int64_t column) {
            for (Offset k = offsets[column]; k < offsets[column + 1]; ++k) {
                add_atomically(y, rows[k], values[k] * x[column]);
            }
        });
    }

private:
    const CscLayout<Value>& layout_;
};

LayoutCost predict_csc(const PatternForecast& pattern, const Parameters&, Precision precision) {
    constexpr Offset cost_of_atomic = 5;  // of an addition to a row that others add to, in loads
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t bytes =
        (Offset{pattern.columns()} + 1) * offset_bytes + nonzeros * (index_bytes + value_bytes(precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.5);
    cost.exact = true;  // in any order
    cost.chain = cost_of_atomic * std::max(pattern.longest_row(), pattern.longest_column());
    return cost;
}

}  // namespace

/// The columns of a row ascend, so that a walk by columns visits the nonzeros of each row in order.
template <ValueType Value>
void CscLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_arrays(*this);
    HostArray<Offset> next(row_offsets.begin(), row_offsets.end() - 1);
    Slot slot{.array = array_number(this->stored(), this->values), .column_array = -1};
    for (slot.column = 0; slot.column < this->column_count; ++slot.column) {
        for (slot.index = this->column_offsets[slot.column]; slot.index < this->column_offsets[slot.column + 1]; ++slot.index) {
            slot.row = this->row_indices[slot.index];
            if (next[slot.row] == row_offsets[slot.row + 1]) throw std::logic_error("csc: a row has too many nonzeros");
            slot.nonzero = next[slot.row]++;
            visit(slot);
        }
    }
}

LayoutEntry csc_entry() {
    return format<CscLayout>({.summary = "compressed sparse columns: the nonzeros column by column, so that x is read once",
                              .source = "Wikberg, 'Unstructured mesh FVM with GPU' (2025), section 4.2.3",
                              .rows_of_share = RowsOfShare::all,
                              .storage_sizes = csc_storage_sizes,
                              .predict = predict_csc},
                             fill)
        .host<CscColumns>("columns", "columns in parallel, each product is added to y atomically")
        .cuda<CscKernel>("columns",
                         "1 to 32 threads per column, by the mean column length, each product is added to y atomically",
                         walk_columns);
}

}  // namespace workbench
