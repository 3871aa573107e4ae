// CSR with columns of 16 bits, counted from the first nonzero of their row: the layout csr16 of the workbench, as a file beside
// a recipe (docs/format_in_one_file.md).
#pragma once

#include "kernels/format.hpp"

namespace workbench {

/// The arrays. Array is a vector on the host, memory of a GPU, or a view, which kernels take.
template <typename Value, template <typename> typename Array>
struct MyCsr16 : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> first_columns;               // 0 for a row without nonzeros
    Array<std::uint16_t> columns_from_first;  // the column minus the first one of its row
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&MyCsr16::row_offsets>("rows + 1"),
                          structure_array<&MyCsr16::first_columns>("rows"),
                          column_array<&MyCsr16::columns_from_first>("nonzeros"), value_array<&MyCsr16::values>("nonzeros"));
    }
};

/// The slots that each thread reads. `row_lanes` threads share a row.
template <int row_lanes>
struct MyCsr16Rows final : ScheduleBase<Hooks{.lanes = row_lanes, .counts_alike = (row_lanes > 1), .own_columns = true}> {
    static constexpr Offset threads(const auto& arrays) { return CompressedRows<row_lanes>::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        auto run = CompressedRows<row_lanes>::run(arrays, thread, load);
        if (run.row >= 0) run.first_column = load.kept(arrays.first_columns.data() + run.row);
        return run;
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.columns_from_first; }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct MyCsr16Layout final : CompressedLayout<Value, MyCsr16<Value, HostArray>, MyCsr16Rows<1>> {
    static constexpr const char* name = "my_csr16";
};

inline LayoutEntry my_csr16_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix& matrix = staged.matrix;
        layout.row_offsets = matrix.row_offsets;
        make_zeros(layout.first_columns, matrix.rows);
        make_room(layout.columns_from_first, matrix.nonzeros());
        make_copy(layout.values, matrix.values);
        for_each_in_parallel(matrix.rows, 64, [&](std::int64_t row) {
            const auto columns = matrix.row_columns(static_cast<Index>(row));
            if (columns.empty()) return;
            const Offset span = Offset{columns.back()} - columns.front() + 1;
            if (span > 65536) {
                throw Unsuitable("row " + std::to_string(row) + " spans " + std::to_string(span) +
                                 " columns, but 16 bits count 65536; cuthill_mckee may bring them together");
            }
            layout.first_columns[row] = columns.front();
            for (std::size_t k = 0; k < columns.size(); ++k) {
                layout.columns_from_first[matrix.row_offsets[row] + k] =
                    static_cast<std::uint16_t>(columns[k] - columns.front());
            }
        });
    };
    return format<MyCsr16Layout>({.summary = "CSR with columns of 16 bits, in one file"}, fill)
        .host<MyCsr16Rows<1>>("rows", "rows in parallel")
        .cuda<MyCsr16Rows<8>>("lanes", "eight threads per row");
}

#endif

}  // namespace workbench
