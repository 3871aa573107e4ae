// Compressed rows with a mistake for each value of a parameter, to see what is noticed.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "kernels/format.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Mistakes : MatrixSize {
    Index mistake = 0;
    Array<Offset> row_offsets;
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Mistakes::mistake>(),
                          structure_array<&Mistakes::row_offsets>("rows + 1"),
                          column_array<&Mistakes::column_indices>("nonzeros"), value_array<&Mistakes::values>("nonzeros"));
    }
};

template <int lanes_of_row>
struct MistakesRows final : ScheduleBase<Hooks{.lanes = lanes_of_row}> {
    static constexpr Offset threads(const auto& arrays) { return CompressedRows<lanes_of_row>::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        auto run = CompressedRows<lanes_of_row>::run(arrays, thread, load);
        if (lanes_of_row > 1 && arrays.mistake == 20 && thread % lanes_of_row == 1) run.count = 0;   // skips nonzeros
        if (lanes_of_row > 1 && arrays.mistake == 21 && thread % lanes_of_row == 1) run.first -= 1;  // reads some twice
        if (lanes_of_row > 1 && arrays.mistake == 22 && run.row > 0) --run.row;                      // for the row before
        if (lanes_of_row > 1 && arrays.mistake == 23) ++run.count;                                   // beyond the array
        if (lanes_of_row > 1 && arrays.mistake == 24 && thread >= threads(arrays)) {                 // forgets the last row
            const Offset* const offsets = arrays.row_offsets.data() + thread / lanes_of_row;
            run.count = load.kept(offsets + 1) - load.kept(offsets);
        }
        if (lanes_of_row > 1 && arrays.mistake == 25 && thread >= threads(arrays)) run.row = 0;
        if (lanes_of_row == 1 && arrays.mistake == 27) ++run.row;  // writes behind y
        if (arrays.mistake == 26 && run.count > 0) {               // divides by 0 if a column is -1
            volatile Index quotient = 1000 / (arrays.column_indices[run.first] + 1);
            (void)quotient;
        }
        return run;
    }
};

#ifndef __CUDACC_RTC__

template <ValueType Value>
struct MistakesLayout final : CompressedLayout<Value, Mistakes<Value, HostArray>, MistakesRows<1>> {
    static constexpr const char* name = "mistakes";
};

inline LayoutEntry mistakes_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
        const CsrMatrix& matrix = staged.matrix;
        const std::int64_t mistake = parameters.integer("mistake");
        layout.mistake = static_cast<Index>(mistake);
        layout.row_offsets = matrix.row_offsets;
        make_copy(layout.column_indices, matrix.column_indices);
        make_copy(layout.values, matrix.values);
        const Offset nonzeros = matrix.nonzeros();
        if (mistake == 1) std::abort();
        if (mistake == 2) std::exit(3);
        if (mistake == 3) {
            for (volatile bool forever = true; forever;) {
            }
        }
        if (mistake == 4) throw std::runtime_error("no such luck");
        if (mistake == 5 && nonzeros > 0) layout.values.data()[nonzeros] = 1;
        if (mistake == 6) throw 6;
        if (mistake == 7 && matrix.rows > 1) ++layout.row_offsets[1];
        if (mistake == 8 && nonzeros > 0) layout.values[0] += 1;
        if (mistake == 9 && nonzeros > 0) layout.column_indices[nonzeros - 1] = matrix.columns;
        if (mistake == 10) layout.nonzero_count = nonzeros - 1;
        if (mistake == 11) throw Unsuitable("11 is too many");
        if (mistake == 12) {
            for (int i = 0; i < 100000; ++i) std::printf("line %d\n", i);
        }
    };
    return format<MistakesLayout>(
               {.summary = "compressed rows with a mistake",
                .parameters = {integer_parameter("mistake", by_default(std::int64_t{0}), between(0, 30), "its number")}},
               fill)
        .host<MistakesRows<1>>("rows", "rows in parallel")
        .cuda<MistakesRows<4>>("lanes", "four threads per row");
}

#endif

}  // namespace workbench
