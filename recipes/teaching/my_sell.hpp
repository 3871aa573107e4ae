// Sliced ELL with slices of 32 rows, which the workbench has as layout sell, as a file beside a recipe
// (docs/format_in_one_file.md). Source: Monakov, Lokhmotov, Avetisyan (2010).
#pragma once

#include "kernels/format.hpp"

namespace workbench {

inline constexpr Index my_sell_height = 32;  // rows of a slice, and threads of a warp

/// Rows in slices, each padded to its longest row and stored column by column. The k-th entry of lane l of slice s is slot
/// (slice_columns[s] + k) * 32 + l. Padding has value 0 and column 0.
template <typename Value, template <typename> typename Array>
struct MySell : MatrixSize {
    Array<Offset> slice_columns;  // columns of 32 slots in the slices before
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&MySell::slice_columns>("slices + 1"),
                          column_array<&MySell::column_indices>("slots"), value_array<&MySell::values>("slots"));
    }
};

/// `row_threads` threads share a row: 1 or 2. A warp reads neighbouring slots if it has as many rows as a slice.
template <int row_threads>
struct MySellRows final : ScheduleBase<Hooks{.lanes = row_threads,
                                             .lane_distance = 32 / row_threads,
                                             .entries_in_flight = tuned::sell_entries_in_flight,
                                             .resident_blocks = tuned::sell_resident_blocks,
                                             .counts_alike = true}> {
    static constexpr int rows_of_warp = 32 / row_threads;

    static constexpr Offset threads(const auto& arrays) {
        return (static_cast<Offset>(arrays.slice_columns.size()) - 1) * my_sell_height * row_threads;
    }
    static constexpr Run<Known<my_sell_height * row_threads>> run(const auto& arrays, Offset thread, const auto&) {
        if (thread >= threads(arrays)) return {};
        const Offset place = thread / 32 * rows_of_warp + thread % rows_of_warp;
        const Index row = place < arrays.row_count ? static_cast<Index>(place) : -1;  // the last slice has lanes of padding
        const Offset* const columns = arrays.slice_columns.data() + place / my_sell_height;
        const Offset number = lane_of<MySellRows>(thread);  // of the first entry
        return {row, (columns[0] + number) * my_sell_height + place % my_sell_height,
                (columns[1] - columns[0] - number + row_threads - 1) / row_threads};
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

/// Two threads a row if rows have more than 20 nonzeros in the mean.
struct MySellThreads {
    static auto choose(const auto& arrays, const auto& use) {
        const bool long_rows = static_cast<Offset>(arrays.values.size()) > Offset{tuned::sell_short_rows} * arrays.row_count;
        return long_rows ? use(MySellRows<2>{}) : use(MySellRows<1>{});
    }
};

template <ValueType Value>
struct MySellLayout final : OriginLayout<Value, MySell<Value, HostArray>, MySellRows<1>> {
    static constexpr const char* name = "my_sell";
};

inline LayoutEntry my_sell_entry() {
    constexpr auto fill = []<ValueType Value>(MySellLayout<Value>& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix& matrix = staged.matrix;
        const SlicePlan plan{
            .slice_height = my_sell_height, .group_places = {0, matrix.rows}, .column_bounds = {0, matrix.columns}};
        auto slices = build_slices<Value, Index>(matrix, ShareView(matrix), plan);
        for (const Offset offset : slices.slice_offsets) layout.slice_columns.push_back(offset / my_sell_height);
        layout.column_indices = std::move(slices.column_indices);
        layout.values = std::move(slices.values);
        layout.origin = Origin(ShareView(matrix));
    };
    return format<MySellLayout>({.summary = "sliced ELL with slices of 32 rows, in one file"}, fill)
        .host<MySellRows<1>>("slices", "rows in parallel")
        .cuda<MySellThreads>("slices", "one or two threads per row");
}

#endif

}  // namespace workbench
