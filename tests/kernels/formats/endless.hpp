// Compressed rows with a kernel that does not end on rows with nonzeros, and one that does.
#pragma once

#include "kernels/format.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Endless : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Endless::row_offsets>("rows + 1"),
                          column_array<&Endless::column_indices>("nonzeros"), value_array<&Endless::values>("nonzeros"));
    }
};

#ifndef __CUDACC_RTC__

struct EndlessRows final : ScheduleBase<> {
    static constexpr Offset threads(const auto& arrays) { return CompressedRows<1>::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        const auto run = CompressedRows<1>::run(arrays, thread, load);
        for (volatile bool forever = run.count > 0; forever;) {
        }
        return run;
    }
};

template <ValueType Value>
struct EndlessLayout final : CompressedLayout<Value, Endless<Value, HostArray>, CompressedRows<1>> {
    static constexpr const char* name = "endless";
};

inline LayoutEntry endless_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
        layout.row_offsets = staged.matrix.row_offsets;
        make_copy(layout.column_indices, staged.matrix.column_indices);
        make_copy(layout.values, staged.matrix.values);
    };
    return format<EndlessLayout>({.summary = "compressed rows with a kernel that does not end"}, fill)
        .host<EndlessRows>("endless", "does not end")
        .host<CompressedRows<1>>("rows", "rows in parallel");
}

#endif

}  // namespace workbench
