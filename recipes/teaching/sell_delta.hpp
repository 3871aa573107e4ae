// Sliced ELL whose columns are differences of 8 bits, a format that the workbench does not have: each nonzero stores how far
// its column is from that of the nonzero before it in the same row. A thread adds up the differences while it multiplies, so
// that its schedule has a state. Source of the differences: Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector
// multiplication using index and value compression" (2008); of the slices: Monakov, Lokhmotov, Avetisyan (2010).
#ifndef WORKBENCH_KERNEL_SOURCE  // the format
#pragma once

#include "kernels/format.hpp"

namespace workbench {

inline constexpr Index sell_delta_height = 32;  // rows of a slice, and threads of a warp
inline constexpr Index sell_delta_jump = 255;   // a slot without a nonzero, which moves the column by as much

/// Slice s has the steps [slice_steps[s], slice_steps[s + 1]). Lane l of a step is slot step * 32 + l. The first difference of
/// a row counts from first_columns[row]. Padding, also between nonzeros that are 255 columns or more apart, has value 0 and is
/// a jump.
template <typename Value, template <typename> typename Array>
struct SellDelta : MatrixSize {
    Array<Offset> slice_steps;
    Array<Index> first_columns;  // 0 for a row without nonzeros
    Array<std::uint8_t> differences;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&SellDelta::slice_steps>("slices + 1"),
                          structure_array<&SellDelta::first_columns>("rows"), column_array<&SellDelta::differences>("slots"),
                          value_array<&SellDelta::values>("slots"));
    }
};

/// One thread per row. Its state is the column of the last slot, counted from the row's first column.
struct SellDeltaRows final : ScheduleBase<Hooks{.entries_in_flight = tuned::sell_entries_in_flight,
                                                .resident_blocks = tuned::sell_resident_blocks,
                                                .no_column = NoColumn::slot_read,
                                                .own_columns = true,
                                                .own_state = true}> {
    static constexpr Offset threads(const auto& arrays) {
        return (static_cast<Offset>(arrays.slice_steps.size()) - 1) * sell_delta_height;
    }
    static constexpr Run<Known<sell_delta_height>> run(const auto& arrays, Offset thread, const auto& load) {
        if (thread >= threads(arrays)) return {};
        const Index row = thread < arrays.row_count ? static_cast<Index>(thread) : -1;  // the last slice has lanes of padding
        const Offset* const steps = arrays.slice_steps.data() + thread / sell_delta_height;
        const Index first_column = row < 0 ? 0 : load(arrays.first_columns.data() + row);
        return {row, steps[0] * sell_delta_height + thread % sell_delta_height, steps[1] - steps[0], {}, first_column};
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.differences; }
    static constexpr Index state(const auto&, const auto&, const auto&) { return 0; }
    static constexpr Index next_column(const auto& arrays, const auto&, const RunSlot& place, const auto& load, Index& column) {
        const Index difference = load(arrays.differences.data() + place.slot);
        column += difference;
        return difference == sell_delta_jump ? -1 : column;
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct SellDeltaLayout final : PatternLayout<Value, SellDelta<Value, HostArray>, SellDeltaRows> {
    static constexpr const char* name = "sell_delta";
};

/// Calls visit(difference, nonzero) for the slots of a row, with differences below `jump`; nonzero: -1 for a jump. Returns the
/// number of slots.
Offset for_each_difference(const CsrMatrix& matrix, Index row, Index jump, const auto& visit) {
    const auto columns = matrix.row_columns(row);
    Offset slots = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        Index difference = k == 0 ? 0 : columns[k] - columns[k - 1];
        for (; difference >= jump; difference -= jump, ++slots) visit(jump, Offset{-1});
        visit(difference, matrix.row_offsets[row] + static_cast<Offset>(k));
        ++slots;
    }
    return slots;
}

/// Calls visit(slice, row) for all rows, slices in parallel.
void for_each_row_of_slices(const CsrMatrix& matrix, const auto& visit) {
    for_each_in_parallel((std::int64_t{matrix.rows} + sell_delta_height - 1) / sell_delta_height, 8, [&](std::int64_t slice) {
        const auto first = static_cast<Index>(slice * sell_delta_height);
        for (Index row = first; row < std::min(first + sell_delta_height, matrix.rows); ++row) visit(slice, row);
    });
}

/// Divides the matrix into slices whose columns are stored as differences below `jump`: fills slice_steps and first_columns,
/// and returns the number of slots.
Offset fill_slices(auto& layout, const CsrMatrix& matrix, Index jump, double slots_per_nonzero) {
    make_zeros(layout.slice_steps, (std::int64_t{matrix.rows} + sell_delta_height - 1) / sell_delta_height + 1);
    make_zeros(layout.first_columns, matrix.rows);
    for_each_row_of_slices(matrix, [&](std::int64_t slice, Index row) {
        Offset& steps = layout.slice_steps[slice + 1];
        steps = std::max(steps, for_each_difference(matrix, row, jump, [](auto...) {}));
        if (!matrix.row_columns(row).empty()) layout.first_columns[row] = matrix.row_columns(row).front();
    });
    sum_up(layout.slice_steps);
    const Offset slots = layout.slice_steps.back() * sell_delta_height;
    if (static_cast<double>(slots) > slots_per_nonzero * static_cast<double>(matrix.nonzeros()) + 1024) {
        throw Unsuitable(std::to_string(slots) + " slots for " + std::to_string(matrix.nonzeros()) +
                         " nonzeros, more than slots_per_nonzero; an order of less bandwidth (cuthill_mckee) may help");
    }
    return slots;
}

/// Calls visit(slot, difference, nonzero) for the slots of all rows, slices in parallel.
void for_each_slot_of_slices(const auto& layout, const CsrMatrix& matrix, Index jump, const auto& visit) {
    for_each_row_of_slices(matrix, [&](std::int64_t slice, Index row) {
        Offset slot = layout.slice_steps[slice] * sell_delta_height + row % sell_delta_height;
        (void)for_each_difference(matrix, row, jump, [&](Index difference, Offset nonzero) {
            visit(slot, difference, nonzero);
            slot += sell_delta_height;
        });
    });
}

inline ParameterDeclaration slots_per_nonzero_parameter() {
    return real_parameter("slots_per_nonzero", by_default(3.0), at_least(1), "most slots for each nonzero");
}

inline LayoutEntry sell_delta_entry() {
    constexpr auto fill = []<ValueType Value>(SellDeltaLayout<Value>& layout, const StagedMatrix& staged,
                                              const Parameters& parameters) {
        const CsrMatrix& matrix = staged.matrix;
        const Offset slots = fill_slices(layout, matrix, sell_delta_jump, parameters.real("slots_per_nonzero"));
        make_zeros(layout.values, slots);
        layout.differences.assign(static_cast<std::size_t>(slots), std::uint8_t{sell_delta_jump});
        for_each_slot_of_slices(layout, matrix, sell_delta_jump, [&](Offset slot, Index difference, Offset nonzero) {
            layout.differences[slot] = static_cast<std::uint8_t>(difference);
            if (nonzero >= 0) layout.values[slot] = static_cast<Value>(matrix.values[nonzero]);
        });
        layout.pattern = Pattern(matrix);
    };
    return format<SellDeltaLayout>({.summary = "sliced ELL with differences of columns in 8 bits",
                                    .source = "Kourtis, Goumas and Koziris (2008)",
                                    .parameters = {slots_per_nonzero_parameter()}},
                                   fill)
        .host<SellDeltaRows>("slices", "rows in parallel")
        .cuda<SellDeltaRows>("slices", "one thread per row");
}

#endif

}  // namespace workbench

#else  // the kernels that [kernel] of sell_delta.toml names, written by hand, with one thread per row

constexpr Index height = 32;
constexpr Index jump = 255;

#ifdef __CUDACC__
__device__
#endif
    Value
    product_of_row(const Arrays& arrays, Index row, const Value* x) {
    const Offset* const steps = arrays.slice_steps + row / height;
    const Value* const x_of_row = x + arrays.first_columns[row];
    Index column = 0;
    Value sum = 0;
    for (Offset slot = steps[0] * height + row % height; slot < steps[1] * height; slot += height) {
        const Index difference = arrays.differences[slot];
        column += difference;
        if (difference != jump) sum += arrays.values[slot] * x_of_row[column];
    }
    return sum;
}

#ifdef __CUDACC__
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= arrays.row_count) return;
    const Value sum = product_of_row(arrays, static_cast<Index>(row), x);
    y[row] = accumulate ? y[row] + sum : sum;
}
#else
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
#pragma omp parallel for
    for (Index row = 0; row < arrays.row_count; ++row) {
        const Value sum = product_of_row(arrays, row, x);
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
#endif

#endif
