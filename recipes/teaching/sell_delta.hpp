// Sliced ELL whose columns are differences of 8 bits, a format that the workbench does not have: each nonzero stores how far
// its column is from that of the nonzero before it in the same row. A thread adds up the differences while it multiplies, so
// that its schedule has a state. Source of the differences: Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector
// multiplication using index and value compression" (2008); of the slices: Monakov, Lokhmotov, Avetisyan (2010).
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

/// Calls visit(difference, nonzero) for the slots of a row; nonzero: -1 for a jump. Returns the number of slots.
Offset for_each_difference(const CsrMatrix& matrix, Index row, const auto& visit) {
    const auto columns = matrix.row_columns(row);
    Offset slots = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        Index difference = k == 0 ? 0 : columns[k] - columns[k - 1];
        for (; difference >= sell_delta_jump; difference -= sell_delta_jump, ++slots) visit(sell_delta_jump, Offset{-1});
        visit(difference, matrix.row_offsets[row] + static_cast<Offset>(k));
        ++slots;
    }
    return slots;
}

inline LayoutEntry sell_delta_entry() {
    constexpr auto fill = []<ValueType Value>(SellDeltaLayout<Value>& layout, const StagedMatrix& staged,
                                              const Parameters& parameters) {
        const CsrMatrix& matrix = staged.matrix;
        const std::int64_t slices = (std::int64_t{matrix.rows} + sell_delta_height - 1) / sell_delta_height;
        const auto for_each_row = [&](std::int64_t slice, const auto& visit) {
            const auto first = static_cast<Index>(slice * sell_delta_height);
            for (Index row = first; row < std::min(first + sell_delta_height, matrix.rows); ++row) visit(row);
        };
        make_zeros(layout.slice_steps, slices + 1);
        for_each_in_parallel(slices, 8, [&](std::int64_t slice) {
            Offset& steps = layout.slice_steps[slice + 1];
            for_each_row(slice, [&](Index row) { steps = std::max(steps, for_each_difference(matrix, row, [](auto...) {})); });
        });
        sum_up(layout.slice_steps);
        const Offset slots = layout.slice_steps.back() * sell_delta_height;
        if (static_cast<double>(slots) > parameters.real("slots_per_nonzero") * static_cast<double>(matrix.nonzeros()) + 1024) {
            throw Unsuitable(std::to_string(slots) + " slots for " + std::to_string(matrix.nonzeros()) +
                             " nonzeros, more than slots_per_nonzero; an order of less bandwidth (cuthill_mckee) may help");
        }
        make_zeros(layout.first_columns, matrix.rows);
        make_zeros(layout.values, slots);
        layout.differences.assign(static_cast<std::size_t>(slots), std::uint8_t{sell_delta_jump});
        for_each_in_parallel(slices, 8, [&](std::int64_t slice) {
            for_each_row(slice, [&](Index row) {
                const auto columns = matrix.row_columns(row);
                if (!columns.empty()) layout.first_columns[row] = columns.front();
                Offset slot = layout.slice_steps[slice] * sell_delta_height + row % sell_delta_height;
                (void)for_each_difference(matrix, row, [&](Index difference, Offset nonzero) {
                    layout.differences[slot] = static_cast<std::uint8_t>(difference);
                    if (nonzero >= 0) layout.values[slot] = static_cast<Value>(matrix.values[nonzero]);
                    slot += sell_delta_height;
                });
            });
        });
        layout.pattern = Pattern(matrix);
    };
    return format<SellDeltaLayout>({.summary = "sliced ELL with differences of columns in 8 bits",
                                    .source = "Kourtis, Goumas and Koziris (2008)",
                                    .parameters = {real_parameter("slots_per_nonzero", by_default(3.0), at_least(1),
                                                                  "most slots for each nonzero")}},
                                   fill)
        .host<SellDeltaRows>("slices", "rows in parallel")
        .cuda<SellDeltaRows>("slices", "one thread per row");
}

#endif

}  // namespace workbench
