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

const char* const format_recipe = R"([matrix]
path = "NAME.mtx"

[layout]
source = "NAME.hpp"
)";

}  // namespace workbench
