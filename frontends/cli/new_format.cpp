#include "frontends/cli/new_format.hpp"

namespace workbench {

const char* const format_source =
    R"(// A storage format beside a recipe: so far, compressed rows. docs/format_in_one_file.md describes the parts.
#pragma once

#include "kernels/format.hpp"

namespace workbench {

/// The arrays. Array is a vector on the host, memory of a GPU, or a view, which kernels take.
template <typename Value, template <typename> typename Array>
struct TYPE : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&TYPE::row_offsets>("rows + 1"),
                          column_array<&TYPE::column_indices>("nonzeros"), value_array<&TYPE::values>("nonzeros"));
    }
};

/// The slots that each thread reads: `lanes_of_row` threads share a row and read its slots in turn.
template <int lanes_of_row>
struct TYPERows final : ScheduleBase<Hooks{.lanes = lanes_of_row, .counts_alike = (lanes_of_row > 1)}> {
    static constexpr Offset threads(const auto& arrays) { return Offset{arrays.row_count} * lanes_of_row; }
    static constexpr Run<Known<lanes_of_row>> run(const auto& arrays, Offset thread, const auto& load) {
        const Offset row = thread / lanes_of_row;
        if (row >= arrays.row_count) return {};
        const Offset begin = load.kept(arrays.row_offsets.data() + row);
        const Offset end = load.kept(arrays.row_offsets.data() + row + 1);
        return run_of_lane<lanes_of_row>(static_cast<Index>(row), begin, end, static_cast<int>(thread % lanes_of_row));
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct TYPELayout final : CompressedLayout<Value, TYPE<Value, HostArray>, TYPERows<1>> {
    static constexpr const char* name = "NAME";
};

inline LayoutEntry NAME_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix& matrix = staged.matrix;
        layout.row_offsets = matrix.row_offsets;
        make_copy(layout.column_indices, matrix.column_indices);
        make_copy(layout.values, matrix.values);
    };
    return format<TYPELayout>({.summary = "compressed rows, the start of a format"}, fill)
        .host<TYPERows<1>>("rows", "rows in parallel")
        .cuda<TYPERows<8>>("lanes", "eight threads per row");
}

#endif

}  // namespace workbench
)";

const char* const loop_format_source =
    R"(// A storage format beside a recipe with loops of its own: so far, compressed columns. docs/format_in_one_file.md describes the parts.
#pragma once

#include "kernels/format.hpp"

namespace workbench {

/// The arrays. Array is a vector on the host, memory of a GPU, or a view, which kernels take.
template <typename Value, template <typename> typename Array>
struct TYPE : MatrixSize {
    Array<Offset> column_offsets;
    Array<Index> row_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&TYPE::column_offsets>("columns + 1"),
                          structure_array<&TYPE::row_indices>("nonzeros"), value_array<&TYPE::values>("nonzeros"));
    }
};

template <ValueType Value>
struct TYPELayout final : StoredLayout<Value, TYPE<Value, HostArray>> {
    static constexpr const char* name = "NAME";

    /// The row offsets of the matrix, for the walk alone. What no kernel reads is no field, and counts no bytes.
    HostArray<Offset> row_offsets{0};
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }

    /// Visits every slot with its row, its column and the position of its nonzero in the matrix; padding has none. What cannot be
    /// walked, because the content of an array is not sound, is an exception.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override {
        const auto exists = [&](Index row) { return row >= 0 && row < this->row_count; };
        if (!tiles(this->column_offsets, this->values.size()) || !std::ranges::all_of(this->row_indices, exists)) {
            throw std::logic_error("the column offsets do not divide the arrays, or a row does not exist");
        }
        HostArray<Offset> next(row_offsets.begin(), row_offsets.end() - 1);  // of each row
        Slot slot{.array = array_number(this->stored(), this->values), .column_array = -1};
        for (slot.column = 0; slot.column < this->column_count; ++slot.column) {
            for (slot.index = this->column_offsets[slot.column]; slot.index < this->column_offsets[slot.column + 1]; ++slot.index) {
                slot.row = this->row_indices[slot.index];
                if (next[slot.row] == row_offsets[slot.row + 1]) throw std::logic_error("a row has too many nonzeros");
                slot.nonzero = next[slot.row]++;
                visit(slot);
            }
        }
    }
};

/// y = A x, or y += A x, on the host.
template <ValueType Value>
class TYPEColumns final : public Kernel<Value> {
public:
    explicit TYPEColumns(const TYPELayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.row_count, Value{0});
        for_each_in_parallel(layout_.column_count, 64, [&](std::int64_t column) {
            for (Offset k = layout_.column_offsets[column]; k < layout_.column_offsets[column + 1]; ++k) {
                add_atomically(y, layout_.row_indices[k], layout_.values[k] * x[column]);
            }
        });
    }

private:
    const TYPELayout<Value>& layout_;
};

inline LayoutEntry NAME_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix by_columns = transpose(staged.matrix);
        layout.column_offsets = by_columns.row_offsets;
        make_copy(layout.row_indices, by_columns.column_indices);
        make_copy(layout.values, by_columns.values);
        layout.row_offsets = staged.matrix.row_offsets;
    };
    return format<TYPELayout>({.summary = "compressed columns, the start of a format with loops of its own"}, fill)
        .host<TYPEColumns>("columns", "columns in parallel");
}

}  // namespace workbench
)";

const char* const format_recipe = R"([matrix]
path = "NAME.mtx"

[layout]
source = "NAME.hpp"
)";

}  // namespace workbench
